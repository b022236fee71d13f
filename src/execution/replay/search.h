/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exhaustive search by choices (raddle/memory.h): which run of an exploration comes next.  A run is a list of
 * choices.  Each of them that has other alternatives leads to further runs, which are the same up to there
 *and take another one, and behind that what is usual.  Runs with few unusual choices come first.  What
 * follows a state that was met before is not gone through again.
 *
 *	struct replay_search s = {0};
 *	do {
 *		run with .explore = &s; replay_search_took(&s, &result.memory);
 *	} while (replay_search_next(&s));
 */
#ifndef REPLAY_SEARCH_H
#define REPLAY_SEARCH_H

#include "base/map.h"
#include "raddle/memory.h"

#include <stdbool.h>
#include <stddef.h>

#define REPLAY_SEARCH_COSTS 64 /* unusual choices; more of them count as so many */

struct replay_memory;
struct replay_search_plan; /* of a run to come */

struct replay_search {
	struct raddle_choice *choices; /* the plan of the next run; behind a run, what it chose */
	size_t count, planned, capacity;
	struct rd_umap states;
	uint64_t runs;
	struct {
		struct replay_search_plan *first, *last;
	} queues[REPLAY_SEARCH_COSTS];
};

/* What a run chose: that of replay/replay.h, or a list. */
void replay_search_took(struct replay_search *s, const struct replay_memory *m);
void replay_search_add(struct replay_search *s, const struct raddle_choice *c);

/* Whether there is another run, whose plan is the first `planned` choices. */
bool replay_search_next(struct replay_search *s);
void replay_search_release(struct replay_search *s);

#endif
