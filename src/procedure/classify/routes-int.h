/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: other ways to reach a race.  The schedule of a race leads the threads to the
 * points where they made the two accesses in the recorded run.  In the flavour `led`, in which a
 * thread can stop before any access, the threads may not reach these points, or may make the two
 * accesses elsewhere.  In that case a run of this flavour shows where the threads make them.
 */
#ifndef CLASSIFY_ROUTES_INT_H
#define CLASSIFY_ROUTES_INT_H

#include "trial/trial.h"

#define ROUTES_MOST 8 /* maximum number of ways that are tried; chosen by hand */

struct routes {
	/* pairs of goals, the most promising first; the goals of a pair are in the order of the
	 * race's own goals */
	struct schedule_goal goals[ROUTES_MOST][2];
	size_t count;
	struct schedule texts; /* owns the names in the goals */
};

/* Finds ways to the race by a single run of the program.  If the seed is 0, the default rule
 * chooses which thread runs next.  The caller must release the result even after a failure. */
int routes_find(struct routes *a, struct trial_bench *b, const struct schedule *race, uint64_t seed);

/* Like routes_find(), but finds ways to other instances of the race.  These are other accesses to
 * the same memory on the same lines, such as the write of x += 1 if the race was found with its
 * read. */
int routes_find_others(struct routes *a, struct trial_bench *b, const struct schedule *race);
void routes_release(struct routes *a);

#endif
