// SPDX-License-Identifier: Apache-2.0
// expect: deadlock m,once
// recorded: the initialiser has run before the second thread locks.
/* The initialiser needs a lock that another thread holds while it waits for the initialiser. */
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
THREAD(first)
{
	UNUSED;
	pthread_once(&once, fill);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	LOCK(m);
	pthread_once(&once, fill);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return x != 1;
}
