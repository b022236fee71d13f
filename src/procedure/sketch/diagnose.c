// SPDX-License-Identifier: Apache-2.0
/*
 * The loop of a diagnosis.  In: a program.  Out: sketches. choose-int.h makes the decisions; this
 * file does the runs:
 *
 * 1. Runs are made until one fails or the time is up.  Their statements are not watched.
 * 2. The slice of the failure shows where to look.  Runs are made until enough of them have failed
 *    in the same way and enough have passed.
 * 3. Predictors are sought among the first two statements of the slice, then four, and so on, until
 *    one distinguishes failing from passing runs.
 * 4. The best orders are forced and prevented.
 *
 * If failures with other signatures occur meanwhile, they are explained in the same way, from step
 * 2 on.
 */
#include "sketch/diagnose.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/deadline.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/map.h"
#include "sketch/caller-int.h"
#include "sketch/choose-int.h"
#include "sketch/turns-int.h"
#include "sketch/plain-int.h"
#include "sketch/reach-int.h"

#include <stdlib.h>
#include <string.h>

/* All of the following numbers were chosen by hand. */
#define TIMED 32 /* number of the best predictors for which it is determined when they came true */
/* Limits of an unscheduled run, and of all these runs together if the user set no time limit.  Both
 * are in program time (run/clock.h), so they do not depend on how busy the machine is. */
#define PLAIN_LIMIT_NS (10 * RD_NS_PER_S)
#define PLAIN_WORK_US UINT64_C(60000000)
/* Number of statements that are watched first in runs whose threads take turns; the program is
 * stopped at each of them. */
#define LED_FIRST 64
/* if LED_FIRST statements are not enough, LED_TIMES times as many are watched */
#define LED_TIMES 4

struct work {
	const struct diagnose *how;
	struct diagnosis *d;
	struct sketch_turns turns;
	struct judge judge;
	struct rd_interrupt signals;
	int64_t end_ns;	      /* deadline of the diagnosis; 0 for no deadline */
	int64_t plain_end_ns; /* deadline of the unscheduled runs; 0 for no deadline */
	size_t before;	      /* number of failing runs that were used with a smaller σ */
	uint64_t number;
	const char *signature;		 /* the signature that is being explained */
	struct rd_names signatures;	 /* numbers the signatures of all failures */
	struct sketch_failure *failures; /* by number of the signature: its first failure */
	/* By number of the signature: the schedule of the run that first failed with it; NULL if
	 * unknown. */
	char **schedules;
	size_t schedule_capacity;
	size_t failure_count, failure_capacity;
};

void diagnosis_release(struct diagnosis *d)
{
	sketch_set_release(&d->set);
	for (size_t i = 0; i < DIAGNOSE_SKETCHES; i++)
		sketch_runs_release(&d->runs[i]);
	RD_FREE(d->why, d->untracked);
	*d = (struct diagnosis){0};
}

static bool is_late(const struct work *w)
{
	return rd_deadline_passed(w->end_ns);
}

static bool is_over(struct work *w)
{
	if (rd_interrupt_wait(&w->signals, 0))
		w->d->interrupted = true;
	return w->d->interrupted || is_late(w);
}

static void show(const struct work *w, const char *doing)
{
	if (w->how->progress)
		w->how->progress(w->how->context,
				 &(struct diagnose_progress){w->number, w->d->failed, doing});
}

/* ---- runs ---- */

/* Returns true if the failure is at the place that the user reported, or if the user reported no
 * place. */
static bool is_wanted(const struct work *w, const struct sketch_failure *f)
{
	const struct sketch_failure *report = w->how->report;

	return !report || (f->file && f->line == report->line &&
			   !strcmp(rd_base_name(f->file), rd_base_name(report->file)));
}

/* Keeps a failure whose signature is new. */
static void note_failure(struct work *w, struct sketch_failure *f, const char *schedule)
{
	if (!is_wanted(w, f))
		return;
	char *signature = sketch_signature(f);
	uint32_t n = rd_names_put(&w->signatures, signature, strlen(signature));

	free(signature);
	if (n < w->failure_count)
		return;
	RD_ASSERT(n == w->failure_count);
	RD_GROW(w->failures, w->failure_capacity, n + 1);
	RD_GROW(w->schedules, w->schedule_capacity, n + 1);
	w->schedules[n] = schedule ? rd_xstrdup(schedule) : NULL;
	w->failures[w->failure_count++] = *f;
	*f = (struct sketch_failure){0};
}

static bool has_signature(const struct sketch_failure *f, const char *wanted)
{
	char *signature = sketch_signature(f);
	bool same = !strcmp(signature, wanted);

	free(signature);
	return same;
}

/* Makes a run.  Sets *said to false if the run has to be ignored.  In an intervention, *failed
 * becomes true only if the run failed with the signature that is being explained, because any other
 * failure may be due to another bug. */
static int make_run(struct work *w, const struct turns_order *order, bool *said, bool *failed)
{
	struct sketch_failure f;
	const char *why;

	RD_ASSERT(order->intervention == TURNS_WATCH || w->signature);
	int err = turns_run(&w->turns, w->number++, order, &f, &why);

	*said = !err && !why;
	*failed = *said && f.kind != SKETCH_PASSED;
	if (*failed && order->intervention == TURNS_WATCH)
		note_failure(w, &f, w->turns.runs->items[w->turns.runs->count - 1].schedule);
	else if (*failed)
		*failed = has_signature(&f, w->signature);
	sketch_failure_release(&f);
	if (*said) {
		w->d->made++;
		w->d->failed += *failed;
	} else if (!err) {
		w->d->discarded++;
		if (!w->d->why)
			w->d->why = rd_xstrdup(why);
	}
	return err;
}

static void drop_last(struct sketch_runs *runs)
{
	RD_ASSERT(runs->count > 0);
	struct sketch_run *run = &runs->items[--runs->count];

	RD_FREE(run->events, run->signature, run->schedule);
}

/* Drops the last run if it failed and only passing runs are still needed. */
static void drop_needless(struct sketch_runs *runs, const char *signature, size_t enough)
{
	if (choose_is_needless(runs, signature, enough))
		drop_last(runs);
}

/* Makes runs until one fails.  Their statements are not watched. */
static int find_failure(struct work *w)
{
	uint64_t most = w->how->most ? w->how->most : DIAGNOSE_RUNS;
	int err = RD_OK;

	w->turns.blind = true;
	while (!err && w->number < most && !is_over(w) && !w->failure_count) {
		bool said, failed;

		err = make_run(w, &(struct turns_order){TURNS_WATCH, NULL, NULL}, &said, &failed);
		if (said)
			drop_last(w->turns.runs);
		show(w, "until it fails");
	}
	w->turns.blind = false;
	return err;
}

static int collect(struct work *w, const char *signature)
{
	uint64_t most = w->number + (w->how->most ? w->how->most : DIAGNOSE_RUNS);
	int err = RD_OK;

	while (!err && w->number < most && !is_over(w) &&
	       !choose_has_enough(w->turns.runs, signature, CHOOSE_FAILING)) {
		bool said, failed;

		err = make_run(w, &(struct turns_order){TURNS_WATCH, NULL, NULL}, &said, &failed);
		if (said)
			drop_needless(w->turns.runs, signature, CHOOSE_FAILING);
		show(w, "runs that fail and pass");
	}
	return err;
}

/* ---- interventions ---- */

static int try_order(struct work *w, const struct turns_order *o, struct sketch_tries *t)
{
	unsigned tries = w->how->tries ? w->how->tries : DIAGNOSE_TRIES;
	int err = RD_OK;

	for (unsigned i = 0; i < 2 * tries && t->runs < tries && !err && !is_over(w); i++) {
		bool said, failed;

		err = make_run(w, o, &said, &failed);
		if (said &&
		    choose_has_order(w->turns.runs, o->of, o->order) == (o->intervention == TURNS_FORCE)) {
			t->runs++;
			t->failed += failed;
		}
		if (said)
			drop_last(w->turns.runs);
		show(w,
		     o->intervention == TURNS_FORCE ? "with the order forced" : "with the order prevented");
	}
	return err;
}

/* Forces and prevents the best orders.  The runs with interventions have a separate table of
 * statements. */
static int intervene(struct work *w, const struct sketch_runs *runs, struct sketch_predictors *p)
{
	struct sketch_predictor *next, *cause = NULL;
	bool *tried = rd_xcalloc(p->count + 1, sizeof *tried);
	struct sketch_runs led = {0};
	unsigned count = 0;
	int err = RD_OK;

	w->turns.runs = &led;
	sketch_predictors_time(runs, w->signature, p, TIMED);
	while (!w->how->no_intervention && !err && !is_over(w) &&
	       (next = choose_order(p, cause, tried, count))) {
		struct sketch_predictor now = *next;

		tried[next - p->items] = true;
		count++;
		err = try_order(w, &(struct turns_order){TURNS_FORCE, &now, runs}, &now.forced);
		if (!err)
			err = try_order(w, &(struct turns_order){TURNS_PREVENT, &now, runs}, &now.prevented);
		*next = now;
		if (sketch_is_confirmed(next))
			cause = next;
	}
	free(tried);
	sketch_predictors_sort(p);
	sketch_runs_release(&led);
	return err;
}

/* ---- plain runs ---- */

/* Returns true if the unscheduled program may show this failure, and can be tracked. */
static bool is_plain(const struct work *w, const struct sketch_failure *f, const struct reach *reach)
{
	return reach->sliced && (f->kind == SKETCH_CRASH || f->kind == SKETCH_ASSERTION) &&
	       !w->how->runs.companion && !w->how->runs.setup;
}

/* Returns true if nothing distinguishes a failing run from a few passing ones.  In that case more
 * runs will not help, but a larger σ may. */
static bool is_hopeless(const struct work *w, const struct sketch_runs *runs)
{
	struct sketch_predictors p = {0};
	bool good;

	sketch_predict(runs, w->signature, &p);
	good = choose_is_good(&p);
	sketch_predictors_release(&p);
	return !good;
}

/* Returns true if the time for unscheduled runs is used up. */
static bool has_spent(const struct work *w, const struct plain *p)
{
	return w->plain_end_ns ? rd_now_ns() >= w->plain_end_ns : p->work_us >= PLAIN_WORK_US;
}

/* Makes runs until `enough` of them have failed and enough have passed, or until a limit is
 * reached.  Ends earlier if many runs were made and none failed, or if this σ is clearly too small.
 * If `delays` is set, threads are delayed at random. */
static int collect_plain(struct work *w, struct plain *p, uint32_t sigma, size_t enough, bool delays)
{
	struct sketch_runs *runs = w->turns.runs;
	bool asked = sigma >= p->track.slice->statements || enough < CHOOSE_PLAIN_FEW;
	struct choose_counts c = {0};
	int err = RD_OK;

	for (uint64_t n = 0; !err && choose_track_runs(n, c.failing) && !is_over(w); n++) {
		bool said;

		if (has_spent(w, p) || choose_has_enough(runs, p->signature, enough))
			break;
		err = plain_run(p, sigma, delays ? n + 1 : 0, runs, &said);
		w->number++;
		w->d->made += said;
		w->d->failed += said && runs->items[runs->count - 1].outcome != SKETCH_PASSED;
		if (said)
			drop_needless(runs, p->signature, enough);
		c = choose_count(runs, p->signature);
		show(w, delays ? "with delays" : "as it is");
		if (asked || !c.failing || c.passing < CHOOSE_PLAIN_PASSING)
			continue;
		asked = true;
		if (is_hopeless(w, runs))
			break;
	}
	return err;
}

/* Makes new runs with each σ, until a predictor distinguishes failing from passing runs. */
static int track_slice(struct work *w, struct plain *p, struct sketch_predictors *out, struct choose_track *t)
{
	struct sketch_runs *runs = w->turns.runs;
	bool more = true;
	int err = RD_OK;

	while (!err && more && !is_over(w)) {
		size_t enough = choose_track_enough(t);
		struct choose_counts c;

		sketch_predictors_release(out);
		sketch_runs_release(runs);
		err = collect_plain(w, p, t->sigma, enough, t->delays);
		c = choose_count(runs, p->signature);
		if (!err && choose_track_delays(t, c)) {
			err = collect_plain(w, p, t->sigma, enough, t->delays);
			c = choose_count(runs, p->signature);
		}
		if (err || !choose_track_says(c))
			return err;
		sketch_predict(runs, p->signature, out);
		more = choose_track_next(t, c, out, p->track.slice->statements);
	}
	return err;
}

/* Tries to explain the failure with the unscheduled program.  If *found is false, runs whose
 * threads take turns are needed. */
static int explain_plain(struct work *w, const struct sketch_failure *f, struct reach *reach,
			 struct sketch_predictors *out, struct sketch_reach *reached, bool *found)
{
	struct plain p = {.streams = &w->turns.bench.streams,
			  .argv = w->how->runs.program->argv,
			  .failure = f,
			  .signature = w->signature,
			  .judge = &w->judge,
			  .limit_ns = PLAIN_LIMIT_NS};
	char *message = NULL;
	struct rd_context quiet = {.log = rd_log_first, .data = &message};
	struct choose_track track = choose_track_begin();
	int64_t now = rd_now_ns();
	int err;

	w->plain_end_ns = w->end_ns ? now + (w->end_ns - now) / 2 : 0;
	rd_context_enter(&quiet);
	err = plain_open(&p, w->how->runs.program->program->path, &reach->slice);
	if (!err)
		err = track_slice(w, &p, out, &track);
	rd_context_leave(&quiet);
	plain_close(&p);
	if (err && !w->d->untracked)
		w->d->untracked = rd_xstrdup(message ? message : "the program cannot be tracked as it is");
	free(message);
	*found = track.found;
	*reached = (struct sketch_reach){.sigma = track.sigma, .near = track.near};
	w->before = track.before;
	if (!*found) {
		sketch_predictors_release(out);
		w->before = 0; /* runs whose threads take turns do not use the tracked runs */
	}
	return RD_OK;
}

/* ---- the diagnosis of a failure ---- */

static void set_distances(struct sketch_runs *runs, struct reach *reach, const char *signature)
{
	if (!reach->sliced) {
		choose_count_back(runs, signature);
		return;
	}
	for (size_t i = 0; i < runs->statement_count; i++) {
		runs->statements[i].distance = reach_distance(reach, &runs->statements[i]);
		runs->statements[i].found = runs->statements[i].distance == UINT32_MAX;
	}
}

/* Makes runs stop at the sites that the first `sigma` statements of the slice cover, or at all
 * accesses if there is no slice. */
static void look_at_first(struct work *w, struct reach *reach, uint32_t sigma)
{
	reach_sites(reach, w->turns.sites, sigma);
	w->turns.watch = reach->count ? reach->sites : NULL;
	w->turns.watch_count = reach->count;
}

/* Explains the failure with runs whose threads take turns.  The first LED_FIRST statements of the
 * slice are watched from the beginning.  More of a large slice is watched only if these statements
 * explain nothing, since the program is stopped at each watched statement. */
static int look_by_turns(struct work *w, size_t failure, struct reach *reach, struct sketch_predictors *out,
			 uint32_t *sigma)
{
	struct sketch_runs *runs = w->turns.runs;
	uint32_t all = reach->sliced ? reach->slice.statements : 0;
	int err = RD_OK;

	for (uint32_t part = LED_FIRST;; part *= LED_TIMES) {
		look_at_first(w, reach, part);
		sketch_runs_release(runs);
		err = collect(w, w->signature);
		set_distances(runs, reach, w->signature);
		if (w->failures[failure].kind == SKETCH_HANG)
			choose_bring_locks_near(runs);
		if (!err)
			*sigma = choose_predict(runs, w->signature, out);
		if (err || is_over(w) || part >= all || choose_is_good(out))
			return err;
		w->before += choose_count(runs, w->signature).failing;
	}
}

static int explain_led(struct work *w, size_t failure, struct reach *reach, struct sketch_predictors *out,
		       uint32_t *sigma)
{
	const char *first = w->schedules[failure];
	struct schedule near = {0};
	int err;

	if (first && !schedule_parse(&near, first, strlen(first), "a failing run"))
		w->turns.near = &near;
	err = look_by_turns(w, failure, reach, out, sigma);
	w->turns.near = NULL;
	schedule_release(&near);
	return err;
}

/* Sets the schedule of the sketch if the run that it shows has none.  Such a run cannot be
 * repeated, but another run that failed in the same way can. */
static void give_schedule(struct sketch *s, const char *schedule)
{
	if (!s->schedule && schedule)
		s->schedule = rd_arena_strndup(s->arena, schedule, strlen(schedule));
}

/* Makes the sketch.  Branches that were not watched are added only now.  Nothing is known about
 * them except that a thread passed them, so they do not help to distinguish failing from passing
 * runs. */
static void draw(struct work *w, struct sketch_runs *runs, const struct sketch_failure *f,
		 struct sketch_predictors *p, const struct sketch_reach *reached)
{
	struct sketch_reach reach = *reached;
	struct decide decided;

	if (w->how->facts) {
		caller_place(w->how->facts, runs);
		decide_open(&decided, w->how->facts, runs, f);
		decide_imply(&decided, runs);
		reach.decided = &decided;
	}
	sketch_draw(&w->d->set.items[w->d->set.count], runs, f, p, &reach);
	if (w->how->facts)
		decide_close(&decided);
}

/* Explains one signature: makes runs, predictors, interventions and the sketch. */
static int explain(struct work *w, size_t failure, struct reach *reach)
{
	struct diagnosis *d = w->d;
	struct sketch_runs *runs = &d->runs[d->set.count];
	const struct sketch_failure *f = &w->failures[failure];
	char *signature = sketch_signature(f);
	struct sketch_predictors p = {0};
	struct sketch_reach reached = {0};
	bool plain = false;
	int err = RD_OK;

	RD_ASSERT(d->set.count < DIAGNOSE_SKETCHES && failure < w->failure_count);
	w->signature = signature;
	w->before = 0;
	w->turns.runs = runs;
	if (is_plain(w, f, reach))
		err = explain_plain(w, f, reach, &p, &reached, &plain);
	if (!err && !plain)
		err = explain_led(w, failure, reach, &p, &reached.sigma);
	f = &w->failures[failure];
	if (!plain)
		reached.near = reached.sigma;
	else
		look_at_first(w, reach, reached.sigma > LED_FIRST ? reached.sigma : LED_FIRST);
	if (!err)
		err = intervene(w, runs, &p);
	if (!err) {
		RD_GROW(d->set.items, d->set.capacity, d->set.count + 1);
		draw(w, runs, f, &p, &reached);
		d->set.items[d->set.count].before = w->before;
		give_schedule(&d->set.items[d->set.count++], w->schedules[failure]);
	}
	sketch_predictors_release(&p);
	free(signature);
	return err;
}

static int explain_all(struct work *w)
{
	int err = RD_OK;

	for (size_t i = 0; i < w->failure_count && i < DIAGNOSE_SKETCHES && !err && !(i && is_over(w)); i++) {
		struct reach reach = {0};
		const struct sketch_failure *f = &w->failures[i];

		if (w->how->facts && f->file)
			err = reach_open(&reach, w->how->facts, f->file, f->line);
		if (!err)
			err = explain(w, i, &reach);
		reach_close(&reach);
	}
	w->d->set.unexplained =
		w->failure_count - (w->d->set.count < w->failure_count ? w->d->set.count : w->failure_count);
	return err;
}

int diagnose_run(const struct diagnose *how, struct diagnosis *d)
{
	struct work w = {.how = how, .d = d, .signatures = RD_NAMES_INIT};
	struct caller callers = {.f = how->facts};
	struct replay_conditions runs = how->runs;
	int err;

	*d = (struct diagnosis){0};
	runs.kernel_threads = true; /* the kernel reports the registers of each stopped thread */
	if (how->time_ns)
		w.end_ns = rd_now_ns() + how->time_ns;
	w.turns = (struct sketch_turns){
		.runs = &d->runs[0], .sites = how->runs.program->sites, .judge = &w.judge};
	w.turns.callers = how->facts ? &callers : NULL;
	w.judge.command = how->fail_if;
	err = trial_open(&w.turns.bench, &runs, NULL);
	rd_interrupt_begin(&w.signals);
	if (!err)
		err = find_failure(&w);
	if (!err && !d->interrupted)
		err = explain_all(&w);
	d->set.runs = d->made;
	rd_interrupt_end(&w.signals);
	sketch_places_release(&w.turns.places);
	caller_release(&callers);
	trial_close(&w.turns.bench);
	rd_names_release(&w.signatures);
	judge_release(&w.judge);
	for (size_t i = 0; i < w.failure_count; i++)
		sketch_failure_release(&w.failures[i]);
	RD_FREE_EACH(w.schedules, w.failure_count);
	RD_FREE(w.failures, w.schedules);
	return err;
}
