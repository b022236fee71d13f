/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of threads, such as the runnable threads and the waiting threads (rt/steer/turn-int.h).
 * The members are numbers of slots.  Searching for the next member reads one word for every 64
 * threads.  A scan of the slots themselves would touch a page for each thread.
 *
 * Invariant: when no call is in progress, `count` is the number of bits that are set.
 */
#ifndef RT_STEER_SET_H
#define RT_STEER_SET_H

#include "raddle/steer.h"

#include <stdbool.h>

struct rt_set {
	_Atomic uint64_t words[RADDLE_SLOTS / 64];
	_Atomic uint32_t count;
};

static inline bool rt_set_has(const struct rt_set *set, uint32_t number)
{
	return atomic_load_explicit(&set->words[number / 64], memory_order_acquire) >> number % 64 & 1;
}

/* `alone` is true if neither another kernel thread nor a signal handler can interfere.  In that
 * case, plain loads and stores are enough. */
static inline void rt_set_add(struct rt_set *set, uint32_t number, bool alone)
{
	_Atomic uint64_t *word = &set->words[number / 64];
	uint64_t bit = 1ull << number % 64, old = atomic_load_explicit(word, memory_order_acquire);

	if (old & bit)
		return;
	if (alone) {
		atomic_store_explicit(word, old | bit, memory_order_relaxed);
		atomic_store_explicit(&set->count, set->count + 1, memory_order_relaxed);
	} else if (!(atomic_fetch_or(word, bit) & bit)) {
		atomic_fetch_add(&set->count, 1);
	}
}

static inline void rt_set_remove(struct rt_set *set, uint32_t number, bool alone)
{
	_Atomic uint64_t *word = &set->words[number / 64];
	uint64_t bit = 1ull << number % 64, old = atomic_load_explicit(word, memory_order_acquire);

	if (!(old & bit))
		return;
	if (alone) {
		atomic_store_explicit(word, old & ~bit, memory_order_relaxed);
		atomic_store_explicit(&set->count, set->count - 1, memory_order_relaxed);
	} else if (atomic_fetch_and(word, ~bit) & bit) {
		atomic_fetch_sub(&set->count, 1);
	}
}

/* Returns the lowest member that is at least `from` and below `end`, or RADDLE_STEER_NONE. */
static inline uint32_t rt_set_next(const struct rt_set *set, uint32_t from, uint32_t end)
{
	for (uint32_t word = from / 64; from < end; word++, from = word * 64) {
		uint64_t rest = atomic_load_explicit(&set->words[word], memory_order_acquire) >>
				from % 64 << from % 64;

		if (rest) {
			from = word * 64 + (uint32_t)__builtin_ctzll(rest);
			return from < end ? from : RADDLE_STEER_NONE;
		}
	}
	return RADDLE_STEER_NONE;
}

#endif
