// SPDX-License-Identifier: Apache-2.0
// expect: deadlock lock,m
// recorded: the reader is done before the writer begins.
/* One thread takes the read lock, then the mutex; the other the mutex, then the write lock. */
#include "case.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
MUTEX(m);
THREAD(look)
{
	UNUSED;
	pthread_rwlock_rdlock(&lock);
	LOCK(m);
	UNLOCK(m);
	pthread_rwlock_unlock(&lock);
	return NULL;
}
THREAD(set)
{
	UNUSED;
	LOCK(m);
	pthread_rwlock_wrlock(&lock);
	pthread_rwlock_unlock(&lock);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_two(look, set);
	return 0;
}
