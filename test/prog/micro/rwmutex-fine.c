// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first reader is done before the second begins.
/* Both threads take only the read lock, so there is no cycle. */
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
THREAD(peek)
{
	UNUSED;
	LOCK(m);
	pthread_rwlock_rdlock(&lock);
	pthread_rwlock_unlock(&lock);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_two(look, peek);
	return 0;
}
