/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of threads, by slot number: the runnable threads and the waiting ones
 * (rt/steer/turn-int.h).  Looking up the next member reads one word for every 64 threads.  A scan
 * of the slots would touch a page for each thread.
 *
 * Invariant: `count` is the number of bits that are set, once all calls under way have returned.
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

/* Both return whether the bit has changed.  If all threads run on one kernel thread (`one`), one
 * instruction without a bus lock is enough, since only a signal handler could come between
 * (rt/core/one.h). */
static inline bool rt_set_bit(_Atomic uint64_t *word, uint32_t bit, bool one)
{
	bool was;

	if (!one)
		return !(atomic_fetch_or(word, 1ull << bit) >> bit & 1);
	__asm__ volatile("btsq %2, %0" : "+m"(*word), "=@ccc"(was) : "r"((uint64_t)bit));
	return !was;
}

static inline bool rt_clear_bit(_Atomic uint64_t *word, uint32_t bit, bool one)
{
	bool was;

	if (!one)
		return atomic_fetch_and(word, ~(1ull << bit)) >> bit & 1;
	__asm__ volatile("btrq %2, %0" : "+m"(*word), "=@ccc"(was) : "r"((uint64_t)bit));
	return was;
}

static inline void rt_set_count(struct rt_set *set, uint32_t more, bool one)
{
	if (one)
		__asm__ volatile("addl %1, %0" : "+m"(set->count) : "r"(more) : "cc");
	else
		atomic_fetch_add(&set->count, more);
}

static inline void rt_set_add(struct rt_set *set, uint32_t number, bool one)
{
	if (!rt_set_has(set, number) && rt_set_bit(&set->words[number / 64], number % 64, one))
		rt_set_count(set, 1, one);
}

static inline void rt_set_remove(struct rt_set *set, uint32_t number, bool one)
{
	if (rt_set_has(set, number) && rt_clear_bit(&set->words[number / 64], number % 64, one))
		rt_set_count(set, UINT32_MAX, one);
}

/* The first member from `from` on that is below `end`, or RADDLE_STEER_NONE. */
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
