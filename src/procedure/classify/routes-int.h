/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: other ways to reach a race.  The schedule of a race leads the threads to the
 * points where they made the two accesses in the recorded run.  In the flavour `led` the threads
 * may not reach these points, or the race may lie elsewhere.  Then a run of that flavour shows
 * where the threads do reach the two accesses.
 */
#ifndef CLASSIFY_ROUTES_INT_H
#define CLASSIFY_ROUTES_INT_H

#include "trial/trial.h"

#define ROUTES_MOST 8 /* most ways that are tried: a judgement */

struct routes {
	struct schedule_goal goals[ROUTES_MOST][2]; /* the likeliest first, each in the order of the race */
	size_t count;
	struct schedule texts; /* owns their names */
};

/* Runs the program once; 0 is the seed of the usual order of turns.  Release the result even after
 * a failure. */
int routes_find(struct routes *a, struct trial_bench *b, const struct schedule *race, uint64_t seed);

/* The same for other instances of the race: other accesses on its lines to the same memory, such as
 * the write of x += 1 if the race was found with its read. */
int routes_find_others(struct routes *a, struct trial_bench *b, const struct schedule *race);
void routes_release(struct routes *a);

#endif
