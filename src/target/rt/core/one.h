/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters and locks that cost less if one kernel thread runs all threads of the process
 * (RADDLE_STEER_ONE).  In that case only a signal handler can interrupt an update.  So an update
 * by a single instruction needs no bus lock, which would take about 20 cycles.  With several
 * kernel threads, these functions are ordinary atomic operations.
 *
 * Other kernel threads may exist for a short time, while they begin or end.  They execute no code
 * that uses these functions (rt/steer/context.c, invariant 2).
 */
#ifndef RT_CORE_ONE_H
#define RT_CORE_ONE_H

#include "rt/core/rt.h"

/* Returns true if nothing can interrupt an update, neither another kernel thread nor a signal
 * handler. */
static inline bool rt_is_alone(void)
{
	return RT_LIKELY(rt.one) && !atomic_load_explicit(&rt.interruptible, memory_order_relaxed);
}

static inline void rt_add32(_Atomic uint32_t *at, uint32_t n)
{
	if (RT_LIKELY(rt.one))
		__asm__ volatile("addl %1, %0" : "+m"(*at) : "r"(n) : "cc");
	else
		atomic_fetch_add(at, n);
}

/* Takes the lock by storing `mark` in it.  Returns false if the lock is not free.  With one kernel
 * thread, a signal handler may run between the load and the store, but it has released the lock
 * again when it returns. */
static inline bool rt_try(_Atomic uint32_t *lock, uint32_t mark)
{
	if (RT_UNLIKELY(!rt.one))
		return !atomic_exchange_explicit(lock, mark, memory_order_acquire);
	if (atomic_load_explicit(lock, memory_order_relaxed))
		return false;
	atomic_store_explicit(lock, mark, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	return true;
}

#endif
