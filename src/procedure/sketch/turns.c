// SPDX-License-Identifier: Apache-2.0
/*
 * Makes runs whose threads take turns.  In: a program, and a number that selects the schedule.
 * Out: the run, which is added to the others. turns-events.c collects its events, turns-failure.c
 * decides how it failed, and intervention.c which thread runs next.
 */
#include "sketch/turns-parts-int.h"

#include "base/error.h"
#include "explore/explore.h"
#include "explore/strategies.h"

#include <stdlib.h>
#include <string.h>

/* ---- callbacks ---- */

static bool stopped(void *context, const struct replay_stand *stand, struct schedule *more, const char **next)
{
	(void)more;
	turns_stopped(context, stand, next);
	return true;
}

static size_t ended(void *context, const struct replay_result *r)
{
	turns_describe(context, r);
	return SIZE_MAX;
}

/* ---- the schedule ---- */

static void watch(struct schedule *s, uint32_t site, bool stand)
{
	struct schedule_watch *w = schedule_add_watch(s);

	w->after = SCHEDULE_ALWAYS;
	w->site = site;
	w->reads = w->writes = true;
	w->stand = stand;
}

/* Selects the sites at which threads can lose the turn, besides operations.  In runs that are not
 * watched, and in those that begin like a failing run, these are all accesses. */
static void watch_sites(const struct sketch_turns *l, struct schedule *s, bool near)
{
	if (l->blind || !l->watch) {
		watch(s, 0, !l->blind);
		return;
	}
	if (near) /* the decisions of the failing run count all accesses */
		watch(s, 0, false);
	for (size_t i = 0; i < l->watch_count; i++)
		watch(s, l->watch[i], true);
}

/* Makes the run begin with decisions of the failing run.  Every third such run repeats all
 * decisions and makes no others; the other runs repeat only the first few. */
static void begin_near(const struct sketch_turns *l, uint64_t number, struct schedule *s)
{
	size_t count = l->near->decision_count;
	bool all = number / 2 % 3 == 0;

	s->decisions = l->near->decisions;
	s->decision_count = all ? count : s->seed / 7 % (count + 1);
	if (all)
		s->seed = 0;
}

static void keep_schedule(struct sketch_run *run, const struct schedule *made)
{
	struct rd_buf text = RD_BUF_INIT;

	if (!made->turns)
		return;
	schedule_format(made, &text);
	run->schedule = rd_buf_detach(&text);
}

/* ---- the run ---- */

static void finish(struct turns_now *now, const struct sketch_failure *f, const struct trial *t,
		   const struct schedule *made)
{
	struct sketch_run *run = now->run;

	run->outcome = f->kind;
	run->perturbed = true;
	turns_finish(now, f->kind == SKETCH_CRASH || f->kind == SKETCH_ASSERTION,
		     t->end == REPLAY_DEADLOCKED);
	if (f->kind != SKETCH_PASSED)
		run->signature = sketch_signature(f);
	run->failed_thread = f->thread;
	keep_schedule(run, made);
}

int turns_follow(struct sketch_turns *l, const struct schedule *s, const struct turns_order *order,
		 uint64_t seed, struct sketch_failure *failure, const char **why)
{
	struct turns_now now = {.turns = l, .order = *order, .seed = seed};
	struct trial t;
	struct trial_hooks hooks = {l->blind ? NULL : stopped, ended, &now};
	struct schedule made = {0};
	int err;

	RD_ASSERT(order->intervention == TURNS_WATCH || (order->order && order->of));
	*failure = (struct sketch_failure){0};
	*why = NULL;
	now.run = sketch_run_add(l->runs);
	turns_init(&now);
	now.trial = &t;
	now.failure = failure;
	err = trial_run_with(&l->bench, s, &hooks, &t, &made);
	if (!err)
		err = verdict_judge(l->judge, &t, failure);
	if (!err)
		finish(&now, failure, &t, &made);
	l->extent = err ? 0 : t.extent;
	if (l->names)
		memcpy(l->names, now.names, sizeof now.names);
	if (err || !t.counts) {
		*why = err ? NULL : t.why;
		sketch_failure_release(failure);
		RD_FREE(now.run->signature, now.run->events, now.run->schedule);
		l->runs->count--;
	}
	free(now.ranges);
	schedule_release(&made);
	return err;
}

int turns_run(struct sketch_turns *l, uint64_t number, const struct turns_order *order,
	      struct sketch_failure *failure, const char **why)
{
	struct draw draw = strategies_draw(number, 1, NULL, 0);
	struct schedule s;
	bool near = !l->blind && l->near && order->intervention == TURNS_WATCH && number % 2;
	int err;

	schedule_init(&s);
	s.turns = true;
	s.seed = draw.seed;
	s.flavour = EXPLORE_FLAVOUR;
	s.looks = near;
	s.notes = true;
	watch_sites(l, &s, near);
	if (near)
		begin_near(l, number, &s);
	l->bench.strategy = draw.strategy;
	err = turns_follow(l, &s, order, draw.seed | 1, failure, why);
	if (near) /* the schedule does not own its decisions */
		s.decisions = NULL;
	schedule_release(&s);
	return err;
}
