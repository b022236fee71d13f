/* SPDX-License-Identifier: Apache-2.0 */
/* Inside explore/: determines which strategy the n-th schedule uses, and at which points it
 * decides. */
#ifndef EXPLORE_STRATEGIES_H
#define EXPLORE_STRATEGIES_H

#include "replay/replay.h"

/* Where threads can be preempted. */
enum draw_points {
	POINTS_OPERATIONS, /* only before operations and output */
	POINTS_RACY,	   /* also before accesses of variables that race in some run */
	POINTS_ALL,	   /* also before every access */
	POINTS_KINDS,
};

struct draw {
	struct replay_strategy strategy; /* the strategy, without length and weights */
	enum draw_points points;
	uint64_t seed; /* 0 for the default schedule */
	/* the schedule extends a prefix (explore/prefix.h), if there is one, and uses the same kind
	 * of points */
	bool from_prefix;
	bool from_prefix_if_long; /* the same if runs are long (explore_is_long()) */
	/* a random number that several schedules share, so that they branch off at the same place */
	uint64_t branch;
};

/* Determines how schedule `number`, counted from 0, is generated.  `only` is the name of a
 * strategy, or NULL to use all strategies in turn.  If there are many threads, every second
 * schedule uses the strategy WEIGHTED or KINDS. */
struct draw strategies_draw(uint64_t number, uint64_t seed, const char *only, size_t threads);

/* Does the same as strategies_draw() for an exploration, whose options may name a strategy and a
 * kind of points. */
struct explore;
struct draw explore_draw(const struct explore *how, uint64_t number, size_t threads);

/* Returns the position, counted from 1, of a schedule among those with the same kind of points. */
uint64_t strategies_position(uint64_t number);

/* Adds a watch: each access at `site` becomes a point of the schedule, at which another thread may
 * continue.  If `site` is 0, every access of the program becomes a point. */
void strategies_watch(struct schedule *s, uint32_t site);

/* Returns the number of the strategy with this name, or -1. */
int strategies_find(const char *name);

/* Returns the kind of points (enum draw_points) with this name, or -1. */
int strategies_find_points(const char *name);

#endif
