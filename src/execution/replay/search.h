/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exhaustive search by choices (raddle/memory.h): decides which run of an exploration comes next.
 * A run is a list of choices.  Each choice with alternatives leads to further runs: the same
 * choices before it, then another alternative, then the defaults.  Runs with few non-default
 * choices come first.  A known state is not continued a second time.
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

/* number of queues; runs with this many non-default choices or more share the last one */
#define REPLAY_SEARCH_COSTS 64

struct replay_memory;
struct replay_search_plan; /* the plan of a future run */

struct replay_search {
	struct raddle_choice *choices; /* the plan of the next run; after a run, its choices */
	size_t count, planned, capacity;
	struct rd_umap states;
	uint64_t runs;
	struct {
		struct replay_search_plan *first, *last;
	} queues[REPLAY_SEARCH_COSTS];
};

/* replay_search_took() stores the choices of a run; replay_search_add() appends one choice. */
void replay_search_took(struct replay_search *s, const struct replay_memory *m);
void replay_search_add(struct replay_search *s, const struct raddle_choice *c);

/* Whether another run is left; its plan is the first `planned` choices. */
bool replay_search_next(struct replay_search *s);
void replay_search_release(struct replay_search *s);

#endif
