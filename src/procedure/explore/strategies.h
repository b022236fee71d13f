/* SPDX-License-Identifier: Apache-2.0 */
/* Inside explore/: which strategy the n-th schedule has, and at which points it decides. */
#ifndef EXPLORE_STRATEGIES_H
#define EXPLORE_STRATEGIES_H

#include "replay/replay.h"

/* Where threads can be preempted. */
enum draw_points {
	POINTS_OPERATIONS, /* at operations and output only */
	POINTS_RACY,	   /* and before accesses to memory that some run showed to be racy */
	POINTS_ALL,	   /* and before every access */
	POINTS_KINDS,
};

struct draw {
	struct replay_strategy strategy; /* without length and weights */
	enum draw_points points;
	uint64_t seed;	  /* 0: the default schedule */
	bool from_prefix; /* the schedule begins like a run that showed something new
			   * (explore/prefix.h), if there is one, with the points of that run */
};

/* How schedule `number`, counted from 0, is generated.  `only` is the name of a strategy; NULL: all
 * in turn.  If there are many threads, every second schedule uses weights or kinds. */
struct draw strategies_draw(uint64_t number, uint64_t seed, const char *only, size_t threads);

/* The position of a schedule among those with the same kind of points, from 1. */
uint64_t strategies_position(uint64_t number);

/* Makes accesses at the site points of the schedule; 0: every access. */
void strategies_watch(struct schedule *s, uint32_t site);

/* The number of a strategy; -1: none has that name. */
int strategies_find(const char *name);

#endif
