// SPDX-License-Identifier: Apache-2.0
// expect: race instance
// recorded: one thread is done before the other begins.
/* Double-checked locking with a plain pointer instead of an atomic one. */
#include "case.h"

MUTEX(m);
static int *instance;
static int *get(void)
{
	if (!instance) {
		LOCK(m);
		if (!instance)
			instance = calloc(1, sizeof *instance);
		UNLOCK(m);
	}
	return instance;
}
THREAD(use)
{
	UNUSED;
	return get() ? NULL : argument;
}
int main(void)
{
	run_two(use, use);
	free(instance);
	return 0;
}
