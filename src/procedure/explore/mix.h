/* SPDX-License-Identifier: Apache-2.0 */
/* Inside explore/: which strategy the n-th schedule has, and at which points it decides. */
#ifndef EXPLORE_MIX_H
#define EXPLORE_MIX_H

#include "replay/replay.h"

enum mix_points {
	MIX_OPERATIONS, /* at operations and output only */
	MIX_RACY,	/* and before accesses of memory that a run showed to be racy */
	MIX_ALL,	/* and before every access */
	MIX_POINTS,
};

struct mix_draw {
	struct replay_strategy strategy; /* without lengths and weights */
	enum mix_points points;
	uint64_t seed; /* 0: the default schedule */
	bool branches; /* it begins like one that showed something new (explore/stem.h), if there is one, with
			  the points of that */
};

/* The draw of a schedule, from 0.  `only` is a strategy, or NULL: all in turn.  Of many threads every second
 * schedule weighs them. */
struct mix_draw mix_draw(uint64_t number, uint64_t seed, const char *only, size_t threads);

/* Which one of those with the same kind of points it is, from 1. */
uint64_t mix_position(uint64_t number);

/* Accesses at the site are points; 0: every access. */
void mix_watch(struct schedule *s, uint32_t site);

/* The number of a strategy; -1: there is none of that name. */
int mix_strategy(const char *name);

#endif
