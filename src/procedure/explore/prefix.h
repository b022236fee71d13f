/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside explore/: prefixes, the beginnings of runs that showed something new.  Few schedules reach
 * the state after such a beginning.  So schedules that start with a prefix discover sooner what can
 * follow it.
 */
#ifndef EXPLORE_PREFIX_H
#define EXPLORE_PREFIX_H

#include "base/alloc.h"
#include "explore/strategies.h"
#include "finding/schedule.h"

#define PREFIXES 256 /* maximum number of prefixes that are kept; chosen by hand to bound memory */

/* Maximum number of decisions of a run without a failure that are kept, so that notes stay small.
 * Chosen by hand. */
#define PREFIX_DECISIONS 400

struct prefix {
	const char *made; /* the schedule with its decisions, as text */
	enum draw_points points;
};

/* Prefixes are in the order in which they were found.  None is ever removed. */
struct prefixes {
	struct prefix items[PREFIXES];
	size_t count;
};

/* How much of a prefix a run keeps. */
struct prefix_part {
	uint64_t prefix; /* number of the prefix, from 1, or 0 for none */
	uint64_t kept;	 /* number of decisions that are kept */
};

/* Adds a prefix.  Returns false if there is no room, or if `made` is NULL.  The text must live as
 * long as the prefixes. */
bool prefixes_add(struct prefixes *p, const char *made, enum draw_points points);

/* Chooses a prefix by the seed and parses it.  The seed also determines how many of the prefix's
 * decisions are kept, and how the rest of the run is scheduled.  There must be at least one prefix.
 * The caller releases the schedule in any case, as after schedule_parse(). */
int prefixes_draw(const struct prefixes *p, uint64_t seed, struct prefix_part *part,
		  struct schedule *schedule);

/* Parses a schedule and keeps its first `kept` decisions. */
int prefix_begin(const char *made, uint64_t kept, uint64_t seed, struct schedule *schedule);

#endif
