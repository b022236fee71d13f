/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: other ways to a race.  The schedule of a race leads threads to where the recorded run had
 * them; if they do not come there in the flavour that is led, or met elsewhere in the first place, a run
 * shows where they do reach the two accesses.
 */
#ifndef CLASSIFY_ROUTES_INT_H
#define CLASSIFY_ROUTES_INT_H

#include "trial/trial.h"

#define ROUTES_MOST 8 /* ways that are worth a run */

struct routes {
	struct schedule_goal goals[ROUTES_MOST][2]; /* the likeliest first, each in the order of the race */
	size_t count;
	struct schedule texts; /* owns their names */
};

/* Runs the program once; 0 is the seed of the usual order of turns.  To be released also after a failure. */
int routes_find(struct routes *a, struct trial_bench *b, const struct schedule *race, uint64_t seed);

/* The same for other instances of the race: other accesses of its lines to its memory, as the write of x += 1
 * where the race is with its read. */
int routes_find_others(struct routes *a, struct trial_bench *b, const struct schedule *race);
void routes_release(struct routes *a);

#endif
