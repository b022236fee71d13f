/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of conflicting places, which exploration covers; a set has them beside its findings. */
#ifndef FINDING_PAIR_H
#define FINDING_PAIR_H

#include "finding/finding.h"

/* Two places that access the same object in different threads, one of them writing, or that take
 * the same lock.  A place may form a pair with itself: then both are the same. */
struct finding_pair {
	struct finding_frame place[2]; /* by file and line */
	uint64_t first[2];  /* the schedule that first had place 0 before place 1, and the reverse; 0: no
			       schedule did */
	const char *object; /* a variable; NULL: unknown */
	bool lock;	    /* they take locks */
};

/* How many pairs of conflicting places were seen in both orders. */
size_t finding_pairs_both(const struct finding_set *set);

#endif
