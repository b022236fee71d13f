/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds accesses that conflict.  Two accesses conflict if two threads may make them to the same
 * bytes at the same time, at least one is a write, and no common lock is certainly held.
 *
 * Pairs of accesses to the same object form a group.  For each member of the object, the best pairs
 * are kept, and the others are only counted.
 */
#ifndef CANDIDATES_PAIR_INT_H
#define CANDIDATES_PAIR_INT_H

#include "candidates/walk-int.h"

struct access_pair {
	uint32_t x, y;	/* numbers of the instances, sorted by the numbers of their accesses */
	uint32_t place; /* a place that both access */
	uint32_t group; /* the number of the object to which the group belongs */
	bool wide;	/* the pointers may point to so many places that this place means little */
	int score;
	const char *reason;
};

struct pairs {
	struct access_pair *items;
	size_t count, capacity;

	size_t left_out; /* number of pairs that did not fit into their groups */
	/* The number of atoms (pair.c) that were compared only by member, or not at all. */
	size_t unrelated;
};

void pairs_find(struct pairs *pairs, const struct access_walk *w);
void pairs_release(struct pairs *pairs);

/* Returns the last member that a source expression names, or the whole expression if it names none.
 * Stores its length in *length. */
const char *pair_member(const char *what, size_t *length);

/* Rates how promising a pair is (rank.c).  A larger number is better.  Stores the reason for the
 * rating in *reason. */
int pair_weigh(const struct access_walk *w, const struct access_pair *pair, const char **reason);

#endif
