// SPDX-License-Identifier: Apache-2.0
// expect: deadlock m
// recorded: the thread that ends with the mutex locked runs last.
/* A thread ends while it holds a mutex, and another thread may wait for the mutex forever. */
#include "case.h"

MUTEX(m);
static int data;
THREAD(use)
{
	LOCK(m);
	data++;
	UNLOCK(m);
	return argument;
}
THREAD(forget)
{
	LOCK(m);
	data++;
	return argument;
}
int main(void)
{
	run_two(use, forget);
	return 0;
}
