/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses that conflict: two threads may make them at the same time, to the same bytes.  At least
 * one is a write, and no common lock is certainly held.
 *
 * Pairs of accesses to the same object form a group.  For each member of the object the best pairs
 * are kept; the others are only counted.
 */
#ifndef CANDIDATES_PAIR_INT_H
#define CANDIDATES_PAIR_INT_H

#include "candidates/walk-int.h"

struct access_pair {
	uint32_t x, y;	/* instances; the one with the lower access first */
	uint32_t place; /* one that both access */
	uint32_t group; /* the object */
	bool wide;	/* the pointers may point to so many places that this one means little */
	int score;
	const char *reason;
};

struct pairs {
	struct access_pair *items;
	size_t count, capacity;

	size_t left_out;  /* of full groups */
	size_t unrelated; /* atoms (pair.c) that were compared by member only, or not at all */
};

void pairs_find(struct pairs *pairs, const struct access_walk *w);
void pairs_release(struct pairs *pairs);

/* The last member that an expression of the source names, or all of it; its length. */
const char *pair_member(const char *what, size_t *length);

/* rank.c: how promising a pair is; more is better. */
int pair_weigh(const struct access_walk *w, const struct access_pair *pair, const char **reason);

#endif
