/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers that are the same everywhere for the same seed and run (splitmix64). */
#ifndef INJECT_RANDOM_H
#define INJECT_RANDOM_H

#include "base/error.h"
#include <stdint.h>

struct inject_random {
	uint64_t state;
};

static inline uint64_t inject_random_next(struct inject_random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* From 0 to limit - 1, each as likely as another; limit is not 0. */
static inline uint64_t inject_random_below(struct inject_random *r, uint64_t limit)
{
	RD_ASSERT(limit != 0);
	uint64_t reject = -limit % limit;
	unsigned __int128 product;

	do
		product = (unsigned __int128)inject_random_next(r) * limit;
	while ((uint64_t)product < reject);
	return (uint64_t)(product >> 64);
}

/* The numbers of run `run` of a campaign. */
static inline struct inject_random inject_random_of(uint64_t seed, uint64_t run)
{
	struct inject_random r = {seed}, s;

	s.state = inject_random_next(&r) ^ run * 0xd1342543de82ef95ull;
	inject_random_next(&s);
	return s;
}

#endif
