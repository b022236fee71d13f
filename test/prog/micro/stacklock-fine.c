// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the two calls run one after the other.
/* google/sanitizers #1717, #1798: two locks exist one after the other at the same stack address. */
#include "case.h"

MUTEX(outer);
__attribute__((noinline)) static void outer_first(void)
{
	pthread_mutex_t inner;

	pthread_mutex_init(&inner, NULL);
	LOCK(outer);
	LOCK(inner);
	UNLOCK(inner);
	UNLOCK(outer);
	pthread_mutex_destroy(&inner);
}
__attribute__((noinline)) static void inner_first(void)
{
	pthread_mutex_t inner;

	pthread_mutex_init(&inner, NULL);
	LOCK(inner);
	LOCK(outer);
	UNLOCK(outer);
	UNLOCK(inner);
	pthread_mutex_destroy(&inner);
}
THREAD(both)
{
	UNUSED;
	outer_first();
	inner_first();
	return NULL;
}
int main(void)
{
	run_two(both, both);
	return 0;
}
