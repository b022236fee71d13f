// SPDX-License-Identifier: Apache-2.0
/*
 * Leads threads to a race.  In: a race, and other ways to reach it that were found in runs.  Out:
 * runs that reach the race by the first way that allows a decision about its class, and any
 * synchronisation that fixes the order of the accesses.
 */
#include "base/error.h"
#include "classify/work-int.h"

#include <string.h>

#define OTHER_SEEDS 3 /* number of runs that look for other ways, each with another seed */
/* number of control runs that are made to see whether the program's behaviour varies */
#define ELSEWHERE_CONTROLS 8
/* number of pairs of runs for each further instance of a race; few are enough for experiments */
#define ELSEWHERE_PAIRS 4
/* maximum extent (replay/board-int.h) of all runs that try the two accesses of a race at other
 * points of the run; they typically take some tenths of a second */
#define REPEATED_EXTENT 400000

/* ---- the order of the accesses ---- */

int reach_find_order(struct race_work *w, struct adhoc *order)
{
	switch (next_order(&w->decision, &w->runs, next_has_met(w->f))) {
	case NEXT_FLAG: return adhoc_flag(&w->bench, &w->race, order);
	case NEXT_APART: return adhoc_apart(&w->bench, &w->race, next_apart(&w->runs), order);
	default: return RD_OK;
	}
}

/* ---- other ways to the race ---- */

static bool is_of_race(const struct race_work *w, const char *thread)
{
	return thread &&
	       (!strcmp(w->race.goals[0].thread, thread) || !strcmp(w->race.goals[1].thread, thread));
}

/* Makes a run to see whether both threads reach their accesses by the current way.  One thread may
 * be blocked while the other is stopped at its access.  The blocked thread may still reach its own
 * access if it runs first, so a second run prefers that thread.  For example, a reader under a
 * sequence lock waits only for a writer that has already begun. */
static int try_way(struct race_work *w, struct trial *t)
{
	struct trial again;
	int err = work_run_variant(w, (struct decide_place){VARIANT_FIRST, 0}, t, NULL);

	if (err || t->counts || w->race.front || !is_of_race(w, t->obstacle.thread))
		return err;
	w->race.front = t->obstacle.thread;
	err = work_run_variant(w, (struct decide_place){VARIANT_FIRST, 0}, &again, NULL);
	if (!err && again.counts)
		*t = again;
	else
		w->race.front = NULL;
	return err;
}

static int run_from_anew(struct race_work *w, const struct trial *opening)
{
	w->bench.mask = (struct trial_mask){0};
	return work_run_pairs(w, opening);
}

/* Makes the runs that reach the race by the current way, and looks for synchronisation that fixes
 * the order of the accesses there.  `opening` is as in work_run_pairs(). */
static int go_this_way(struct race_work *w, struct adhoc *order, const struct trial *opening)
{
	struct trial t;
	int err = run_from_anew(w, opening);

	if (!err && w->decision.class == FINDING_NO_CLASS && next_apart(&w->runs)) {
		err = try_way(w, &t);
		if (!err && t.counts)
			err = run_from_anew(w, &t);
	}
	if (!err && w->how->techniques.adhoc)
		err = reach_find_order(w, order);
	return err;
}

static bool is_decided(const struct race_work *w, const struct adhoc *order)
{
	return order->found || w->decision.class != FINDING_NO_CLASS;
}

/* Replaces the predicted way to the race by a schedule that has only the given goals. */
static void lead_to(struct race_work *w, struct schedule_goal goals[2])
{
	RD_ASSERT(w->race.goal_count == 2);
	w->race.goals = goals;
	w->race.op_count = w->race.limit_count = w->race.watch_count = w->race.decision_count = 0;
	w->race.turns = w->race.anywhere = w->race.nowhere = false;
	w->race.first = w->race.front = NULL;
}

/* Tries the other ways to the race.  Chooses the first one by which both threads reach their
 * accesses and whose runs allow a decision.  If there is no such way, chooses the first one on
 * which something keeps the threads apart, unless the threads are known to have met. */
static int try_ways(struct race_work *w, struct adhoc *order)
{
	size_t apart = w->routes.count;
	struct trial t;
	int err = RD_OK;

	for (size_t i = 0; i < w->routes.count && !err; i++) {
		lead_to(w, w->routes.goals[i]);
		err = try_way(w, &t);
		if (!err && t.counts)
			err = go_this_way(w, order, &t);
		if (!err && t.counts && is_decided(w, order))
			return RD_OK;
		if (!err && t.obstacle.thread && apart == w->routes.count)
			apart = i;
	}
	if (err || apart == w->routes.count || next_has_met(w->f))
		return err;
	lead_to(w, w->routes.goals[apart]);
	return go_this_way(w, order, NULL);
}

static int lead_again(struct race_work *w, struct adhoc *order)
{
	struct schedule predicted = w->race;
	int err = RD_OK;

	for (uint64_t seed = 0; seed < OTHER_SEEDS && !err && !is_decided(w, order); seed++) {
		routes_release(&w->routes);
		err = routes_find(&w->routes, &w->bench, &predicted, seed);
		if (!err)
			err = try_ways(w, order);
	}
	if (err || !is_decided(w, order))
		w->race = predicted;
	return err;
}

/* Tries the predicted points first.  If they lead to no decision, makes a run in which the threads
 * take turns, to see where they reach the accesses; in this flavour they may do so by another way.
 * If the race was seen in a run that led no thread (`anywhere`), the points are not known, so the
 * run with turns comes first. */
int reach_race(struct race_work *w, struct adhoc *order)
{
	bool elsewhere = w->f->schedule->anywhere;
	int err = elsewhere ? lead_again(w, order) : RD_OK;

	if (!err && !is_decided(w, order))
		err = go_this_way(w, order, NULL);
	if (!err && !elsewhere && !is_decided(w, order))
		err = lead_again(w, order);
	return err;
}

/* ---- other instances of the race ---- */

/* The results of the runs that reach a race in one way. */
struct outcome {
	struct schedule race;
	struct decide_runs runs;
	struct decision decision;
	struct trial_mask mask;
};

static void take_back(struct race_work *w, const struct outcome *o)
{
	w->race = o->race;
	w->runs = o->runs;
	w->decision = o->decision;
	w->bench.mask = o->mask;
}

/* Makes some runs for one instance of the race, if the threads meet at that instance. */
static int try_instance(struct race_work *w, struct schedule_goal goals[2])
{
	struct trial t;
	int err;

	lead_to(w, goals);
	err = work_run_variant(w, (struct decide_place){VARIANT_FIRST, 0}, &t, NULL);
	if (err || !t.counts)
		return err;
	w->limits.pairs = ELSEWHERE_PAIRS;
	err = work_run_pairs(w, &t);
	w->limits.pairs = w->how->alternates;
	return err;
}

/* Returns true if an earlier instance consists of accesses at the same two sites. */
static bool is_repeated(const struct routes *r, size_t number)
{
	for (size_t i = 0; i < number; i++)
		if (r->goals[i][0].site == r->goals[number][0].site &&
		    r->goals[i][1].site == r->goals[number][1].site)
			return true;
	return false;
}

/* Finds out whether the behaviour of the program depends on the schedule, for whatever reason.  Further
 * runs are made only if those that lead to the race do not differ. */
static int varies(struct race_work *w, bool *any)
{
	size_t wanted = w->runs.count < ELSEWHERE_CONTROLS ? w->runs.count : ELSEWHERE_CONTROLS;
	int err = decide_differ(&w->runs) ? RD_OK : work_run_controls(w, wanted);

	*any = !err && decide_differ(&w->runs);
	return err;
}

/* Tries other accesses of the same lines. */
static int try_others(struct race_work *w, const struct outcome *first)
{
	bool any;
	int err = varies(w, &any);

	if (!err)
		err = routes_find_others(&w->elsewhere, &w->bench, &first->race);
	for (size_t i = 0; i < w->elsewhere.count && !err && !next_is_bad(&w->decision); i++)
		if (any || !is_repeated(&w->elsewhere, i))
			err = try_instance(w, w->elsewhere.goals[i]);
	return err;
}

/* Returns how many instances of the same two accesses are worth trying.  The longer the runs are,
 * the fewer. */
static size_t worth_repeating(const struct outcome *first)
{
	uint64_t extent = 1;

	for (size_t i = 0; i < first->runs.count; i++)
		if (first->runs.items[VARIANT_FIRST][i].extent > extent)
			extent = first->runs.items[VARIANT_FIRST][i].extent;
	return REPEATED_EXTENT / extent / (ELSEWHERE_PAIRS * 2);
}

/* Tries the same two accesses at other points of the run.  For example, if a thread sets a flag too
 * late, this may matter only for the last message. */
static int try_repeated(struct race_work *w, const struct outcome *first)
{
	size_t most = worth_repeating(first);
	int err = RD_OK;

	routes_release(&w->elsewhere);
	if (most)
		err = routes_find(&w->elsewhere, &w->bench, &first->race, 0);
	for (size_t i = 0; i < w->elsewhere.count && i < most && !err && !next_is_bad(&w->decision); i++)
		err = try_instance(w, w->elsewhere.goals[i]);
	return err;
}

/* What keeps the threads apart at one instance need not keep them apart at another.  For example, a
 * thread waits for the first message, but not for the second.  If the threads meet at another
 * instance, what was found does not order the race as a whole, so it is ignored. */
int reach_meeting(struct race_work *w, struct adhoc *order)
{
	struct outcome first = {w->race, w->runs, w->decision, w->bench.mask};
	int err;

	if (!order->found || w->decision.class != FINDING_NO_CLASS || w->how->models)
		return RD_OK;
	routes_release(&w->elsewhere);
	err = routes_find(&w->elsewhere, &w->bench, &first.race, 0);
	for (size_t i = 0; i < w->elsewhere.count && !err && w->decision.class == FINDING_NO_CLASS; i++)
		err = try_instance(w, w->elsewhere.goals[i]);
	if (err || w->decision.class == FINDING_NO_CLASS) {
		take_back(w, &first);
		return err;
	}
	order->found = false;
	return w->how->techniques.adhoc ? reach_find_order(w, order) : RD_OK;
}

/* A race that has no effect at one instance may have an effect at another.  The other instance may
 * be, for example, the read of x += 1 instead of its write, or a later iteration of a loop. */
int reach_elsewhere(struct race_work *w)
{
	struct outcome first = {w->race, w->runs, w->decision, w->bench.mask};
	int err;

	if (w->decision.class != FINDING_K_WITNESS_HARMLESS || w->how->models)
		return RD_OK;
	err = try_others(w, &first);
	if (!err && !next_is_bad(&w->decision)) {
		take_back(w, &first);
		err = try_repeated(w, &first);
	}
	if (err || !next_is_bad(&w->decision))
		take_back(w, &first);
	return err;
}
