// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the initialiser has run before the second thread locks.
/* As in oncemutex-deadlock.c, but pthread_once() is called before the lock is taken. */
#include "case.h"

MUTEX(m);
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int x;
static void fill(void)
{
	LOCK(m);
	x = 1;
	UNLOCK(m);
}
THREAD(use)
{
	UNUSED;
	pthread_once(&once, fill);
	LOCK(m);
	x++;
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_two(use, use);
	return x != 3;
}
