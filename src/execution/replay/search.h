/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exhaustive search by choices (raddle/memory.h): decides which run of an exploration comes next.
 * A run is a list of choices.  Each choice with alternatives leads to further runs, which make the
 * same choices up to that point, then take another alternative, and after that the defaults of the
 * runtime.  Runs with few choices other than the defaults come first.  If a run reaches a state
 * that an earlier run has reached, the search does not continue from that state again.
 *
 * 	struct replay_search s = {0};
 * 	do {
 * 		run with .explore = &s; replay_search_took(&s, &result.memory);
 * 	} while (replay_search_next(&s));
 */
#ifndef REPLAY_SEARCH_H
#define REPLAY_SEARCH_H

#include "base/map.h"
#include "raddle/memory.h"

#include <stdbool.h>
#include <stddef.h>

/* number of queues, one for each cost; the last queue also holds all runs that cost more */
#define REPLAY_SEARCH_COSTS 64

struct replay_memory;
struct replay_search_plan; /* the plan of a future run */

struct replay_search {
	/* before a run, its plan; after the run, the choices that it made */
	struct raddle_choice *choices;
	size_t count, planned, capacity;
	unsigned cost; /* of this run: how often its plan leaves the defaults */
	struct rd_umap states;
	uint64_t runs;
	uint64_t extent; /* of all runs together (replay/board-int.h); the caller adds it */
	struct {
		struct replay_search_plan *first, *last;
	} queues[REPLAY_SEARCH_COSTS];
};

/* replay_search_took() stores the choices of a run; replay_search_add() appends one choice. */
void replay_search_took(struct replay_search *s, const struct replay_memory *m);
void replay_search_add(struct replay_search *s, const struct raddle_choice *c);

/* Returns true if another run is left.  The first `planned` choices are then its plan. */
bool replay_search_next(struct replay_search *s);
void replay_search_release(struct replay_search *s);

#endif
