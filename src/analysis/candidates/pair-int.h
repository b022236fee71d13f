/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds accesses that conflict: two threads may make them at the same time, to the same bytes.  At
 * least one is a write, and no common lock is certainly held.
 *
 * Pairs of accesses to the same object form a group.  For each member of the object the best pairs
 * are kept; the others are only counted.
 */
#ifndef CANDIDATES_PAIR_INT_H
#define CANDIDATES_PAIR_INT_H

#include "candidates/walk-int.h"

struct access_pair {
	uint32_t x, y;	/* numbers of the instances, sorted by the numbers of their accesses */
	uint32_t place; /* a place that both access */
	uint32_t group; /* number of the object that the group is for */
	bool wide;	/* the pointers may point to so many places that this place means little */
	int score;
	const char *reason;
};

struct pairs {
	struct access_pair *items;
	size_t count, capacity;

	size_t left_out; /* number of pairs that did not fit into their groups */
	/* Number of atoms (pair.c) that were compared only by member, or not at all. */
	size_t unrelated;
};

void pairs_find(struct pairs *pairs, const struct access_walk *w);
void pairs_release(struct pairs *pairs);

/* Returns the last member that an expression of the source names; the whole expression if it names
 * none.  *length receives its length. */
const char *pair_member(const char *what, size_t *length);

/* Rates how promising a pair is (rank.c); a larger number is better. */
int pair_weigh(const struct access_walk *w, const struct access_pair *pair, const char **reason);

#endif
