/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pseudo-random numbers that are the same on every machine for the same seed.  The generator is
 * splitmix64 by Steele, Lea and Flood.  Its state is a counter, so numbers can be drawn in order
 * (rd_random_next()) or by index (rd_mixed()).
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

/* The amount by which the state advances: 2^64 divided by the golden ratio. */
#define RD_RANDOM_STEP 0x9e3779b97f4a7c15ull

/* Mixes the bits of z.  Each bit of the result depends on all bits of z, and different values of z
 * have different results. */
static inline uint64_t rd_mixed(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

struct rd_random {
	uint64_t state;
};

static inline uint64_t rd_random_next(struct rd_random *r)
{
	return rd_mixed(r->state += RD_RANDOM_STEP);
}

/* Returns a uniformly distributed number from 0 to limit - 1.  `limit` must not be 0. */
static inline uint64_t rd_random_below(struct rd_random *r, uint64_t limit)
{
	uint64_t reject = -limit % limit;
	unsigned __int128 product;

	do
		product = (unsigned __int128)rd_random_next(r) * limit;
	while ((uint64_t)product < reject);
	return (uint64_t)(product >> 64);
}

/* Returns a generator for part number `part` of the work that uses this seed.  Each part gets
 * numbers that are unrelated to those of other parts. */
static inline struct rd_random rd_random_of(uint64_t seed, uint64_t part)
{
	struct rd_random r = {seed}, s;

	s.state = rd_random_next(&r) ^ part * 0xd1342543de82ef95ull;
	rd_random_next(&s);
	return s;
}

#endif
