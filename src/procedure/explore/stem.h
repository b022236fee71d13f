/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside explore/: runs that showed something new, by their decisions.  What is new lies behind others that
 * few schedules come to, and what comes next is found sooner from there than from the beginning.
 */
#ifndef EXPLORE_STEM_H
#define EXPLORE_STEM_H

#include "base/alloc.h"
#include "explore/mix.h"
#include "finding/schedule.h"

#define STEMS 256
#define STEM_DECISIONS 400 /* what a run decides behind these is left out */

struct stem {
	const char *made; /* the schedule with all decisions, as a file has it */
	enum mix_points points;
};

/* In the order in which they were heard of; none ever goes. */
struct stems {
	struct stem items[STEMS];
	size_t count;
};

/* A part of one: what a run keeps of it. */
struct stem_part {
	uint64_t stem; /* from 1; 0: none */
	uint64_t kept; /* decisions */
};

/* False: there is no room, or no schedule.  The text is the caller's and stays. */
bool stems_add(struct stems *s, const char *made, enum mix_points points);

/* The one that a schedule with this seed begins like, parsed, with as many of its decisions as the seed says;
 * from there on the seed decides.  There is one.  The schedule is the caller's to release in any case, as it
 * is after schedule_parse(). */
int stems_draw(const struct stems *s, uint64_t seed, struct stem_part *part, struct schedule *schedule);

/* The same again, from its text. */
int stem_begin(const char *made, uint64_t kept, uint64_t seed, struct schedule *schedule);

#endif
