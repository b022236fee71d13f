/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside explore/: beginnings of runs that showed something new.  Few schedules reach the state
 * after such a beginning, so what can follow it is found sooner by starting from there.
 */
#ifndef EXPLORE_PREFIX_H
#define EXPLORE_PREFIX_H

#include "base/alloc.h"
#include "explore/strategies.h"
#include "finding/schedule.h"

#define PREFIXES 256 /* that are kept; a judgement: bounds memory */
#define PREFIX_DECISIONS                                                                                     \
	400 /* of a run that are kept; the rest of a long run is left out, so that notes stay small */

struct prefix {
	const char *made; /* the schedule with all decisions, as a file has it */
	enum draw_points points;
};

/* In the order in which they were found; none is ever removed. */
struct prefixes {
	struct prefix items[PREFIXES];
	size_t count;
};

/* A part of a prefix: what a run keeps of it. */
struct prefix_part {
	uint64_t prefix; /* from 1; 0: none */
	uint64_t kept;	 /* decisions */
};

/* False: there is no room, or no schedule.  The text stays the caller's. */
bool prefixes_add(struct prefixes *p, const char *made, enum draw_points points);

/* Chooses a prefix by the seed and parses it.  The seed also chooses how many of its decisions are
 * kept, and decides the rest of the run.  There must be at least one prefix.  The caller releases
 * the schedule in any case, as after schedule_parse(). */
int prefixes_draw(const struct prefixes *p, uint64_t seed, struct prefix_part *part,
		  struct schedule *schedule);

/* The same again, from its text. */
int prefix_begin(const char *made, uint64_t kept, uint64_t seed, struct schedule *schedule);

#endif
