/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes and random numbers of the runtime, which may not use base/ (base/random.h).  Both are the
 * same in every run, because schedules and their decisions depend on them.
 */
#ifndef RT_COMMON_HASH_H
#define RT_COMMON_HASH_H

#include <stdint.h>

/* 2^64 divided by the golden ratio.  Its multiples are spread evenly over the 64-bit numbers. */
#define RT_GOLDEN 0x9e3779b97f4a7c15ull

/* The upper bits of the hash depend on all bits of the key, so callers use the upper bits.  For
 * example, `>> 56` gives an index into a table of 256 entries. */
static inline uint64_t rt_hash(uint64_t key)
{
	return key * RT_GOLDEN;
}

/* Extends the hash of a sequence by one more word. */
static inline uint64_t rt_hash_add(uint64_t hash, uint64_t word)
{
	hash = rt_hash(hash ^ word);
	return hash ^ hash >> 29;
}

/* Returns the random number that splitmix64 generates in state z.  The state that follows is z +
 * RT_GOLDEN. */
static inline uint64_t rt_mixed(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

#endif
