// SPDX-License-Identifier: Apache-2.0
/*
 * Alternates between the strategies.  In: the number of a schedule, and the seed of the
 * exploration.  Out: the strategy, the points and the seed of the schedule.
 *
 * No strategy is best for all programs.  A random walk finds failures that need a switch in a
 * short window.  Priorities find orders that need one thread to be stopped for long.  Partial
 * orders find failures that depend on few events among many.  Weights and kinds find failures that
 * depend on many threads.  So the strategies alternate, and so do the kinds of points at which
 * threads are switched.
 */
#include "explore/strategies.h"

#include "explore/explore.h"

#include "base/error.h"

#include "base/random.h"

#include <string.h>

/* All of these values were chosen by hand. */
/* if there are more threads than this, `weighted` and `kinds` each get one schedule in four */
#define MANY_THREADS 10
/* one schedule in this many extends a prefix; the others start from the beginning */
#define PREFIX_EACH 3
#define PREFIX_REST 2 /* schedules whose number modulo PREFIX_EACH is this extend a prefix */
/* If runs are long, schedules extend a prefix unless their number modulo PREFIX_EACH is this.  With
 * this rule, a failure that needs four ordered preemptions was found with 10 of 10 seeds, and
 * without it with 7. */
#define FRESH_REST 0
/* Among this many consecutive schedules, all that branch off do so at the same place. */
#define BRANCH_SPAN (16 * PREFIX_EACH)

static const struct {
	const char *name;
	enum raddle_strategy kind;
	unsigned depth;
	bool timeouts;
} rows[] = {
	{"pos", RADDLE_STRATEGY_POS, 0, false},	    {"pct", RADDLE_STRATEGY_PCT, 3, false},
	{"walk", RADDLE_STRATEGY_WALK, 0, false},   {"weighted", RADDLE_STRATEGY_WEIGHTED, 0, false},
	{"pct", RADDLE_STRATEGY_PCT, 2, false},	    {"pos", RADDLE_STRATEGY_POS, 0, true},
	{"round", RADDLE_STRATEGY_ROUND, 0, false}, {"kinds", RADDLE_STRATEGY_KINDS, 0, false},
};

/* The last row is used only for programs with many threads. */
enum { ALL = sizeof rows / sizeof *rows, ROWS = ALL - 1, WEIGHTED = 3, KINDS = ROWS };

int strategies_find(const char *name)
{
	for (int i = 0; i < ALL; i++)
		if (!strcmp(rows[i].name, name))
			return (int)rows[i].kind;
	return -1;
}

int strategies_find_points(const char *name)
{
	static const char *const names[POINTS_KINDS] = {
		[POINTS_OPERATIONS] = "operations", [POINTS_RACY] = "racy", [POINTS_ALL] = "accesses"};

	for (int i = 0; i < POINTS_KINDS; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

/* Returns the seed of a schedule, a pseudo-random number that is never 0. */
static uint64_t seed_of(uint64_t seed, uint64_t number)
{
	uint64_t z = rd_mixed(seed * RD_RANDOM_STEP + number * 0xbf58476d1ce4e5b9ull) & INT64_MAX;

	return z ? z : 1;
}

static size_t row_of(uint64_t number, const char *only, size_t threads)
{
	if (!only)
		return threads <= MANY_THREADS || number % 2 == 0 ? number % ROWS
		       : number % 4 == 1			  ? KINDS
								  : WEIGHTED;
	for (size_t i = 0; i < ROWS; i++)
		if (!strcmp(rows[(number + i) % ROWS].name, only))
			return (number + i) % ROWS;
	return KINDS;
}

struct draw strategies_draw(uint64_t number, uint64_t seed, const char *only, size_t threads)
{
	size_t row = row_of(number, only, threads);

	RD_ASSERT(row < ALL);
	if (number == 0)
		return (struct draw){.points = POINTS_OPERATIONS};
	return (struct draw){.strategy = {.kind = rows[row].kind,
					  .depth = rows[row].depth,
					  .timeouts = rows[row].timeouts},
			     .points = (enum draw_points)((number / ROWS + 1) % POINTS_KINDS),
			     .from_prefix = !only && number % PREFIX_EACH == PREFIX_REST,
			     .from_prefix_if_long = !only && number % PREFIX_EACH != FRESH_REST,
			     .branch = seed_of(seed ? seed : 1, number - number % BRANCH_SPAN),
			     .seed = seed_of(seed ? seed : 1, number)};
}

struct draw explore_draw(const struct explore *how, uint64_t number, size_t threads)
{
	struct draw draw = strategies_draw(number, how->seed, how->strategy, threads);

	if (how->points)
		draw.points = (enum draw_points)strategies_find_points(how->points);
	RD_ASSERT(draw.points < POINTS_KINDS);
	return draw;
}

void strategies_watch(struct schedule *s, uint32_t site)
{
	struct schedule_watch *w = schedule_add_watch(s);

	w->site = site;
	w->after = SCHEDULE_ALWAYS;
	w->reads = w->writes = true;
}

uint64_t strategies_position(uint64_t number)
{
	return number / (ROWS * POINTS_KINDS) * ROWS + number % ROWS + 1;
}
