// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: each thread is done before the next one starts.
/* As in rwqueue-deadlock.c, but the readers share the lock even if a writer waits. */
#include "case.h"

static pthread_rwlock_t shared;
MUTEX(m);
static int data;
THREAD(look)
{
	pthread_rwlock_rdlock(&shared);
	LOCK(m);
	UNLOCK(m);
	pthread_rwlock_unlock(&shared);
	return argument;
}
THREAD(look_late)
{
	LOCK(m);
	pthread_rwlock_rdlock(&shared);
	pthread_rwlock_unlock(&shared);
	UNLOCK(m);
	return argument;
}
THREAD(change)
{
	pthread_rwlock_wrlock(&shared);
	data++;
	pthread_rwlock_unlock(&shared);
	return argument;
}
int main(void)
{
	pthread_rwlockattr_t kind;

	pthread_rwlockattr_init(&kind);
	pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_READER_NP);
	pthread_rwlock_init(&shared, &kind);
	run_three(look, look_late, change);
	return 0;
}
