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

/* If a run did not fail, at most this many of its decisions are kept, so that notes stay small.
 * Chosen by hand. */
#define PREFIX_DECISIONS 400
/* Maximum number of decisions that are kept if the run showed conflicting places in a new order
 * after more than PREFIX_DECISIONS decisions.  The text of so many decisions takes half a
 * megabyte. */
#define PREFIX_DECISIONS_MAX 16000
#define PREFIX_MARKS 8 /* maximum number of marks of a prefix; chosen by hand */

struct prefix {
	const char *made; /* the schedule with its decisions, as text */
	enum draw_points points;
	/* The numbers of decisions, ascending, after which the run showed conflicting places in a
	 * new order. */
	uint32_t marks[PREFIX_MARKS];
	uint32_t mark_count;
	/* For each mark, the number of runs that branched off there, and how many of these had new
	 * trails (made choices that no earlier run made).  If there are no marks, entry 0 counts
	 * all branches. */
	uint32_t tries[PREFIX_MARKS], news[PREFIX_MARKS];
};

/* The number of prefixes that are kept in parsed form.  Parsing one may take some milliseconds,
 * which is about the time of a run.  Usually the same few prefixes are drawn, so four are enough;
 * chosen by hand. */
#define PREFIXES_PARSED 4

struct prefix_parsed {
	const char *made; /* the text, or NULL if the entry is unused */
	struct schedule schedule;
	uint64_t used; /* the number of the last draw that used it */
};

/* Prefixes are in the order in which they were found.  None is ever removed. */
struct prefixes {
	struct prefix items[PREFIXES];
	size_t count;
	struct prefix_parsed parsed[PREFIXES_PARSED];
	uint64_t draws;
};

void prefixes_release(struct prefixes *p);

/* How much of a prefix a run keeps. */
struct prefix_part {
	uint64_t prefix; /* number of the prefix, from 1, or 0 for none */
	uint64_t kept;	 /* number of decisions that are kept */
};

/* Adds a prefix.  Returns false if there is no room, or if its text is NULL.  The text must live as
 * long as the prefixes. */
bool prefixes_add(struct prefixes *p, const struct prefix *prefix);

/* Chooses at most PREFIX_MARKS of the marks, which are in ascending order, and moves them to the
 * front.  Returns how many were chosen. */
size_t prefix_choose_marks(struct replay_mark *marks, size_t count);

/* Stores the decisions of a run and its marks in `to`, which has room for all of them.  The marks
 * are in ascending order.  A mark becomes a decision even if the default thread was chosen there.
 * Stores in `at`, for each mark, the number of decisions up to it.  Drops marks after the last
 * decision, and stores the number of remaining marks in *mark_count.  Returns the total number of
 * decisions. */
size_t prefix_add_marks(const struct schedule *made, const struct replay_mark *marks, uint32_t *mark_count,
			struct schedule_decision *to, uint32_t *at);

/* Called after a run that extended a prefix.  `is_new` is true if the run's trail was new. */
void prefixes_learn(struct prefixes *p, const struct prefix_part *part, bool is_new);

struct prefix_draw {
	uint64_t place; /* chooses a prefix, and how many of its decisions are kept */
	uint64_t seed;	/* decides the rest of the run */
	bool is_long;	/* runs are long (explore_is_long()), so the best of several places is chosen */
};

/* Chooses a prefix.  There must be at least one.  The caller releases the schedule in any case.
 * Its strings belong to the prefixes, and are valid only until the next draw. */
int prefixes_draw(struct prefixes *p, const struct prefix_draw *draw, struct prefix_part *part,
		  struct schedule *schedule);

/* Parses a schedule and keeps its first `kept` decisions. */
int prefix_begin(const char *made, uint64_t kept, uint64_t seed, struct schedule *schedule);

#endif
