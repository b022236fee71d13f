// SPDX-License-Identifier: Apache-2.0
/*
 * What an exploration does next.  In: what is known so far.  Out: the next schedules, how far they
 * may run, and whether the exploration ends.
 */
#include "base/clock.h"
#include "base/error.h"
#include "explore/state-int.h"

#include <string.h>

/* The number of schedules in a task.  A task uses only what was known when it was assigned.  So
 * tasks are small at first, when each run teaches something.  Later tasks of a quick program are
 * larger, because passing them to a process would cost more than the runs. */
#define BATCH 6
#define BATCH_QUICK 30
/* number of schedules after which the mean time of a run is known */
#define BATCH_QUICK_FROM EXPLORE_FIRST
/* Mean extent of a quick run, which takes about 3 ms.  When an exploration ends, the tasks that
 * workers already have are still run; with this limit, that takes about a tenth of a second.  The
 * limit is not a time, because the size of tasks determines what is known when a schedule is
 * planned, and the same exploration must have the same schedules on a slow machine. */
#define BATCH_QUICK_EXTENT 4000
/* A run with a greater mean processor time is not quick, even if its extent is small: it computes
 * in code that Raddle does not see.  The value is far greater than the time of other runs with such
 * an extent, so even a slow machine rarely exceeds it. */
#define BATCH_SLOW_NS (20 * RD_NS_PER_MS)

/* These determine after how many schedules an exploration ends (doc/design/explore.md).  Unless
 * schedules repeat before that (learn.c), it runs at least SETTLED_LEAST schedules.  To give rare
 * races a chance, it also continues until it has run SETTLED_TIMES times as many schedules as it
 * needed to find the last new race or failure.  If the caller sets no limit, it never runs more
 * than MOST schedules. */
#define SETTLED_LEAST 1500
#define SETTLED_TIMES 3
#define MOST 5000

/* An exploration with a limit of work (`quiet`) ends only after this many consecutive runs without
 * anything new, however long the runs are.  Set by hand: by then, each strategy has been used
 * several times, and long programs have branched off (EXPLORE_FIRST).  With 21 runs, a check of
 * examples/bank.c would take two thirds of the CPU time, but deep failures would be missed. */
#define QUIET_RUNS 60

/* Limits for the extent (replay/board-int.h) of runs.  A run that is several times as long as the
 * longest completed run is considered endless. */
/* the lowest limit, if most runs end and a run with the same kind of points has been completed */
#define EXTENT_LEAST 20000
/* the limit of a run, as a multiple of the extent of the longest completed run whose points were of
 * the same kind */
#define EXTENT_TIMES 20
/* the limit of the first run; reaching it takes 0.02 s on one kernel thread, and 1 s with
 * several */
#define EXTENT_FIRST 200000
/* until such a run has been completed, the limit is this unit times explore_luby() */
#define EXTENT_UNIT 500
/* if only runs with other kinds of points have been completed, the unit is at least EXTENT_HINT
 * times the extent of the longest of them */
#define EXTENT_HINT 4
#define EXTENT_RUNS 1200 /* the exploration ends if none of this many runs ended by itself */

/* The extent from which on a run is long.  A point takes about 0.25 us, and a run of a short program
 * 0.5 ms.  So below this extent hardly any time is saved if runs continue from the middle.  If each
 * of many threads does little, runs are not long: in a program with 100 threads (twostage_100 of
 * SCTBench), branches at marks found a failure later. */
#define LONG_EXTENT 1000
#define LONG_EXTENT_EACH 100

/* If more than one in this many branches leaves its schedule, runs do not count as long.  Chosen by
 * hand. */
#define STRAYED_PART 4

/* The maximum number of sites of racy accesses that become points.  More points make runs longer,
 * but hardly more varied. */
#define WATCHED_SITES 512

/* ---- points ---- */

/* Returns true if the two sites are the same, or access the same variable. */
static bool is_alike(const struct trace_site *racy, const struct trace_site *site)
{
	return racy == site ||
	       (racy && racy->what && *racy->what && site->what && !strcmp(racy->what, site->what));
}

/* Returns true if the site accesses a variable for which a race is known, even if that race is at
 * another place. */
static bool is_racy(const struct explore_state *s, const struct trace_site *site)
{
	const struct trace_sites *sites = s->how->runs.program->sites;

	for (size_t i = 0; i < 2 * s->race_count; i++)
		if (is_alike(trace_sites_find(sites, s->races[i / 2].site[i % 2]), site))
			return true;
	for (size_t i = 0; i < s->suggested_count; i++)
		if (is_alike(trace_sites_find(sites, s->suggested[i]), site))
			return true;
	return false;
}

/* The kinds that come before FENCE in the enumeration are reads, writes, ranges and atomics. */
static bool is_access(const struct trace_site *site)
{
	return site->kind < TRACE_SITE_FENCE;
}

static void watch_racy(const struct explore_state *x, struct schedule *s)
{
	const struct trace_sites *sites = x->how->runs.program->sites;

	for (size_t u = 0; sites && u < sites->unit_count; u++) {
		const struct trace_unit *unit = &sites->units[u];

		for (size_t i = unit->site;
		     i < unit->site + unit->site_count && s->watch_count < WATCHED_SITES; i++)
			if (is_access(&sites->sites[i]) && is_racy(x, &sites->sites[i]))
				strategies_watch(s, trace_sites_number(sites, u, &sites->sites[i]));
	}
}

static void make_schedule(const struct explore_state *x, const struct draw *draw, struct schedule *s)
{
	schedule_init(s);
	s->turns = true;
	s->seed = draw->seed;
	s->flavour = EXPLORE_FLAVOUR;
	if (draw->points == POINTS_RACY)
		watch_racy(x, s);
	if (draw->points == POINTS_ALL || (draw->points == POINTS_RACY && !s->watch_count))
		strategies_watch(s, 0);
}

/* ---- extents ---- */

/* The sequence determines the lengths of repeated attempts, in units of extent_unit().  With it,
 * the total cost is not much higher than if the best length were known in advance (Luby, Sinclair,
 * Zuckerman 1993). */
uint64_t explore_luby(uint64_t n)
{
	RD_ASSERT(n > 0);
	for (;;) {
		uint64_t size = 1;

		while (size < n)
			size = 2 * size + 1;
		if (size == n)
			return (size + 1) / 2;
		n -= size / 2;
	}
}

/* As long as no run with this kind of points has been completed, the lengths of attempts are multiples
 * of a unit.  Returns this unit, which depends on the runs with other kinds of points. */
static uint64_t extent_unit(const struct explore_state *s)
{
	uint64_t unit = EXTENT_UNIT;

	for (int i = 0; i < POINTS_KINDS; i++)
		if (unit < EXTENT_HINT * s->longest[i])
			unit = EXTENT_HINT * s->longest[i];
	return unit;
}

/* If most runs do not end, many short attempts are worth more than a long one.  The first run shows
 * the usual length, so it gets EXTENT_FIRST at once. */
uint64_t explore_extent(const struct explore_state *s, uint64_t number, enum draw_points points)
{
	uint64_t most = EXTENT_TIMES * s->longest[points],
		 least = s->cut > s->result->schedules ? EXTENT_UNIT : EXTENT_LEAST;

	if (!s->longest[points] && !number)
		return EXTENT_FIRST;
	if (!s->longest[points])
		return extent_unit(s) * explore_luby(s->how->points ? number : strategies_position(number));
	return most > least ? most : least;
}

/* ---- planning a schedule ---- */

static struct replay_strategy strategy_of(const struct explore_state *s, const struct draw *draw,
					  struct rd_arena *arena)
{
	struct replay_strategy strategy = draw->strategy;
	struct replay_weight *weights = rd_arena_alloc(arena, (s->thread_count + 1) * sizeof *weights);

	strategy.length = s->length[draw->points];
	if (strategy.kind != RADDLE_STRATEGY_WEIGHTED)
		return strategy;
	for (size_t i = 0; i < s->thread_count; i++)
		weights[i] =
			(struct replay_weight){.thread = s->threads[i].name, .points = s->threads[i].points};
	strategy.weights = weights;
	strategy.weight_count = s->thread_count;
	return strategy;
}

bool explore_is_long_run(uint64_t extent, uint64_t threads)
{
	return extent >= LONG_EXTENT && extent >= LONG_EXTENT_EACH * threads;
}

bool explore_is_long(const struct explore_state *s)
{
	return explore_is_long_run(s->longest[POINTS_OPERATIONS], s->thread_count) &&
	       STRAYED_PART * s->strayed <= s->branches;
}

/* Makes the schedule of a plan.  A schedule that extends a prefix has the same kind of points as
 * that prefix.  The first schedules show whether branches follow their schedules. */
static int begin_schedule(struct explore_state *s, uint64_t number, struct explore_plan *plan)
{
	bool is_long = number >= EXPLORE_FIRST && explore_is_long(s);
	struct prefix_draw draw = {is_long ? plan->draw.branch : plan->draw.seed, plan->draw.seed, is_long};
	int err;

	if (!(is_long ? plan->draw.from_prefix_if_long : plan->draw.from_prefix) || !s->prefixes.count) {
		make_schedule(s, &plan->draw, &plan->schedule);
		return RD_OK;
	}
	err = prefixes_draw(&s->prefixes, &draw, &plan->from, &plan->schedule);
	plan->branch = is_long ? plan->from.kept : 0;
	RD_ASSERT(plan->from.prefix >= 1 && plan->from.prefix <= s->prefixes.count);
	plan->draw.points = s->prefixes.items[plan->from.prefix - 1].points;
	return err;
}

int explore_plan(struct explore_state *s, uint64_t number, struct rd_arena *arena, struct explore_plan *plan)
{
	int err;

	*plan = (struct explore_plan){.draw = explore_draw(s->how, number, s->thread_count)};
	err = begin_schedule(s, number, plan);
	plan->strategy = strategy_of(s, &plan->draw, arena);
	plan->extent = explore_extent(s, number, plan->draw.points);
	RD_ASSERT(plan->extent > 0);
	return err;
}

void explore_plan_release(struct explore_plan *plan)
{
	schedule_release(&plan->schedule);
}

/* ---- numbers of schedules ---- */

uint64_t explore_number(const struct explore_state *s, uint64_t n)
{
	RD_ASSERT(!s->how->shards || s->how->shard < s->how->shards);
	return s->how->shards ? n * s->how->shards + s->how->shard : n;
}

/* Returns the maximum number of schedules that this shard runs. */
static uint64_t most_of(const struct explore_state *s)
{
	uint64_t most = s->how->most ? s->how->most : MOST, shards = s->how->shards;

	return shards ? (most + shards - 1 - s->how->shard) / shards : most;
}

/* Returns true if the mean run is quick. */
static bool is_quick(const struct explore_state *s)
{
	uint64_t runs = s->result->schedules;

	return s->given >= BATCH_QUICK_FROM && s->run_extent < BATCH_QUICK_EXTENT * runs &&
	       s->run_ns < BATCH_SLOW_NS * (int64_t)runs;
}

uint64_t explore_next_batch(const struct explore_state *s)
{
	uint64_t most = most_of(s), left = most > s->given ? most - s->given : 0;
	uint64_t count = !s->given ? 1 : is_quick(s) ? BATCH_QUICK : BATCH;

	return left < count ? left : count;
}

bool explore_next_waits(const struct explore_state *s)
{
	return s->given && !s->result->schedules && !s->result->discarded;
}

static bool is_settled(const struct explore_state *s)
{
	uint64_t enough = SETTLED_TIMES * s->result->last_new;

	if (!s->result->schedules && s->cut >= EXTENT_RUNS)
		return true;
	if (s->how->most)
		return false;
	if (s->repeats)
		return true;
	if (s->how->quiet)
		return s->quiet_work >= s->how->quiet && s->quiet_runs >= QUIET_RUNS;
	return explore_number(s, s->given) >= (enough > SETTLED_LEAST ? enough : SETTLED_LEAST);
}

enum explore_stop explore_next_stop(const struct explore_state *s, int64_t elapsed_ns)
{
	const struct explore *how = s->how;

	if (how->time_ns && elapsed_ns >= how->time_ns)
		return EXPLORE_TIME;
	if (s->failure_count > s->result->unrepeated && !how->go_on)
		return EXPLORE_FAILED;
	if (s->given >= most_of(s))
		return EXPLORE_ENOUGH;
	if (is_settled(s))
		return EXPLORE_SETTLED;
	return how->collect ? EXPLORE_TIME : EXPLORE_GOES_ON;
}
