/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of conflicting places in the source.  Exploration tries to run each pair in both orders.
 * A set of findings also contains these pairs. */
#ifndef FINDING_PAIR_H
#define FINDING_PAIR_H

#include "finding/finding.h"

/* Two places in the source.  Either they access the same object in different threads, and at least
 * one access is a write, or they acquire the same lock.  If a place conflicts with itself, both
 * members are that place. */
struct finding_pair {
	struct finding_frame place[2]; /* sorted by file and line */
	/* The number of the first schedule in which place 0 came before place 1, and of the first
	 * schedule with the opposite order.  0 if there is none. */
	uint64_t first[2];
	const char *object; /* name of a variable; NULL if unknown */
	bool lock;	    /* the places acquire locks */
};

/* Returns the number of pairs that were seen in both orders. */
size_t finding_pairs_both(const struct finding_set *set);

#endif
