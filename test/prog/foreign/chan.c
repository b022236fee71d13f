// SPDX-License-Identifier: Apache-2.0
/* Hands over one pointer at a time.  Another compiler compiles this, so Raddle does not see it. */
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

void chan_put(void *p);
void *chan_get(void);

static _Atomic(void *) slot;

void chan_put(void *p)
{
	void *none = NULL;

	while (!atomic_compare_exchange_weak_explicit(&slot, &none, p, memory_order_release,
						      memory_order_relaxed)) {
		none = NULL;
		sched_yield();
	}
}

void *chan_get(void)
{
	void *p;

	while (!(p = atomic_exchange_explicit(&slot, NULL, memory_order_acq_rel)))
		sched_yield();
	return p;
}
