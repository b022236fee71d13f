// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread is done before the other begins.
/* Double-checked locking with acquire and release. */
#include "case.h"

MUTEX(m);
static _Atomic(int *) instance;
static int *get(void)
{
	int *p = atomic_load_explicit(&instance, memory_order_acquire);

	if (p)
		return p;
	LOCK(m);
	p = atomic_load_explicit(&instance, memory_order_relaxed);
	if (!p) {
		p = malloc(sizeof *p);
		*p = 7;
		atomic_store_explicit(&instance, p, memory_order_release);
	}
	UNLOCK(m);
	return p;
}
THREAD(use)
{
	UNUSED;
	return *get() == 7 ? NULL : argument;
}
int main(void)
{
	run_two(use, use);
	return 0;
}
