/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters and locks that cost less if one kernel thread runs all threads of the process
 * (RADDLE_STEER_ONE).  Then only a signal handler can interrupt an update, so an update by one
 * instruction needs no bus lock, which takes about 20 cycles.  With several kernel threads these
 * functions are the usual atomic operations.
 *
 * A kernel thread that begins or ends beside the one that runs all threads executes no code that
 * uses these functions (rt/steer/context.c, invariant 2).
 */
#ifndef RT_CORE_ONE_H
#define RT_CORE_ONE_H

#include "rt/core/rt.h"

/* Whether nothing can interrupt an update: neither another kernel thread nor a signal handler. */
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

/* Takes a lock that is free, and stores `mark` in it; returns false if it is not free.  A handler
 * that runs between the two instructions has released the lock when it returns. */
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
