// SPDX-License-Identifier: Apache-2.0
/*
 * The driver.  In: a program.  Out: sketches.
 *
 * 1. Runs are made until one fails, or the time is up.  Nobody looks at them.
 * 2. The slice of the failure says where to look.  Runs are made until five failed in that way, and thirty
 * passed.
 * 3. Predictors are sought among the first two statements of the slice, then four, and so on, until one tells
 *    failing from passing runs.
 * 4. The best orders are forced and prevented.
 * Failures of other signatures that were met on the way are explained in the same way, from 2 on.
 */
#include "sketch/diagnose.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/map.h"
#include "sketch/caller.h"
#include "sketch/lead.h"
#include "sketch/plain.h"
#include "sketch/reach.h"

#include <stdlib.h>
#include <string.h>

#define ENOUGH_FAILING 5
#define ENOUGH_PASSING 30
#define ALL_ALIKE 40 /* runs without one that passes, after which it fails always */
#define FIRST_SIGMA 2
#define GOOD 0.95	      /* an F that ends the doubling */
#define INTERVENTIONS 4	      /* orders that are tried */
#define TIMED 32	      /* predictors of which is asked when they came true */
#define PLAIN_MOST 400	      /* runs of the program as it is */
#define PLAIN_NONE 40	      /* of which none failed: it fails too rarely */
#define PLAIN_FEW 3	      /* failing and passing ones that are needed, */
#define PLAIN_MORE 2	      /* and failing ones more, to see where a value came from */
#define PLAIN_WHOLE 64	      /* statements of a slice that is then tracked as a whole */
#define HOPE_PASSING 10	      /* passing ones that one failing run is compared with first */
#define PLAIN_LIMIT_MS 10000  /* of a run */
#define PLAIN_NS 60000000000l /* for all of them, where there is no limit */
#define LED_FIRST 64	      /* statements of a slice that are looked at by turns, */
#define LED_TIMES 4	      /* and so many times more if that was not enough */
#define WORTH 0.4	      /* an F that is worth an intervention */

struct work {
	const struct diagnose *how;
	struct diagnosis *d;
	struct lead lead;
	struct judge judge;
	struct rd_interrupt signals;
	int64_t end_ns; /* 0: none */
	int64_t plain_end_ns;
	size_t before; /* failing runs that were used with a smaller σ */
	uint64_t number;
	const char *signature;		 /* that is being explained */
	struct rd_names signatures;	 /* of all failures */
	struct sketch_failure *failures; /* by signature */
	char **schedules;		 /* in which they came first; NULL: unknown */
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
	return w->end_ns && rd_now_ns() >= w->end_ns;
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

/* Whether it is at the place that somebody reported, if somebody did. */
static bool is_wanted(const struct work *w, const struct sketch_failure *f)
{
	const struct sketch_failure *report = w->how->report;

	return !report || (f->file && f->line == report->line &&
			   !strcmp(rd_base_name(f->file), rd_base_name(report->file)));
}

/* A failure that was not seen before is kept. */
static void note_failure(struct work *w, struct sketch_failure *f, const char *schedule)
{
	if (!is_wanted(w, f))
		return;
	char *signature = sketch_signature(f);
	uint32_t n = rd_names_put(&w->signatures, signature, strlen(signature));

	free(signature);
	if (n < w->failure_count)
		return;
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

/* Makes a run; *failed says how it ended if it said anything.  Of an intervention only the failure with the
 * signature that is being explained is one: another bug may lie behind it. */
static int make_run(struct work *w, const struct lead_order *order, bool *said, bool *failed)
{
	struct sketch_failure f;
	const char *why;
	int err = lead_run(&w->lead, w->number++, order, &f, &why);

	*said = !err && !why;
	*failed = *said && f.kind != SKETCH_PASSED;
	if (*failed && order->will == LEAD_WATCH)
		note_failure(w, &f, w->lead.runs->items[w->lead.runs->count - 1].schedule);
	else if (*failed)
		*failed = has_signature(&f, w->signature);
	sketch_failure_release(&f);
	if (*said) {
		w->d->made++;
		w->d->failed += *failed;
	} else if (!err) {
		w->d->strayed++;
		if (!w->d->why)
			w->d->why = rd_xstrdup(why);
	}
	return err;
}

static void drop_last(struct sketch_runs *runs)
{
	struct sketch_run *run = &runs->items[--runs->count];

	RD_FREE(run->events, run->signature, run->schedule);
}

static void count_runs(const struct sketch_runs *runs, const char *signature, size_t *failing,
		       size_t *passing);

/* Failing runs that come while passing ones are awaited are not needed, and are not looked at. */
static void drop_needless(struct sketch_runs *runs, const char *signature, size_t enough)
{
	size_t failing, passing;

	count_runs(runs, signature, &failing, &passing);
	if (failing > enough && runs->items[runs->count - 1].signature && passing)
		drop_last(runs);
}

/* Runs that nobody looks at, until one fails. */
static int find_failure(struct work *w)
{
	uint64_t most = w->how->most ? w->how->most : DIAGNOSE_RUNS;
	int err = RD_OK;

	w->lead.blind = true;
	while (!err && w->number < most && !is_over(w) && !w->failure_count) {
		bool said, failed;

		err = make_run(w, &(struct lead_order){LEAD_WATCH, NULL, NULL}, &said, &failed);
		if (said)
			drop_last(w->lead.runs);
		show(w, "until it fails");
	}
	w->lead.blind = false;
	return err;
}

static void count_runs(const struct sketch_runs *runs, const char *signature, size_t *failing,
		       size_t *passing)
{
	*failing = *passing = 0;
	for (size_t i = 0; i < runs->count; i++) {
		*passing += runs->items[i].outcome == SKETCH_PASSED;
		*failing += runs->items[i].signature && !strcmp(runs->items[i].signature, signature);
	}
}

static bool has_enough(const struct sketch_runs *runs, const char *signature, size_t enough)
{
	size_t failing, passing;

	count_runs(runs, signature, &failing, &passing);
	return failing >= enough && (passing >= ENOUGH_PASSING || (!passing && runs->count >= ALL_ALIKE));
}

static int collect(struct work *w, const char *signature)
{
	uint64_t most = w->number + (w->how->most ? w->how->most : DIAGNOSE_RUNS);
	int err = RD_OK;

	while (!err && w->number < most && !is_over(w) &&
	       !has_enough(w->lead.runs, signature, ENOUGH_FAILING)) {
		bool said, failed;

		err = make_run(w, &(struct lead_order){LEAD_WATCH, NULL, NULL}, &said, &failed);
		if (said)
			drop_needless(w->lead.runs, signature, ENOUGH_FAILING);
		show(w, "runs that fail and pass");
	}
	return err;
}

/* ---- the slice ---- */

/* Where there is no slice: how many statements back from the end of failing runs. */
static void count_back(struct sketch_runs *runs, const char *signature)
{
	unsigned char *seen = rd_xcalloc(runs->statement_count + 1, 1);

	for (size_t i = 0; i < runs->statement_count; i++)
		runs->statements[i].distance = UINT32_MAX;
	for (size_t i = 0; i < runs->count; i++) {
		const struct sketch_run *run = &runs->items[i];
		uint32_t distance = 0;

		if (!run->signature || strcmp(run->signature, signature) != 0)
			continue;
		memset(seen, 0, runs->statement_count);
		for (size_t k = run->count; k-- > 0;) {
			struct slice_statement *s = &runs->statements[run->events[k].statement];

			if (seen[run->events[k].statement]++)
				continue;
			if (distance < s->distance)
				s->distance = distance;
			distance++;
		}
	}
	free(seen);
}

static bool is_near(const struct sketch_runs *runs, const struct sketch_event *e, uint32_t sigma)
{
	return runs->statements[e->statement].distance < sigma;
}

/* The runs with only those events that tracking the first `sigma` statements shows: theirs, and others of the
 * same memory.  Statements stay the others'. */
static void make_near(const struct sketch_runs *runs, uint32_t sigma, struct sketch_runs *near)
{
	*near = (struct sketch_runs){.statements = runs->statements,
				     .statement_count = runs->statement_count};
	for (size_t i = 0; i < runs->count; i++) {
		const struct sketch_run *from = &runs->items[i];
		struct sketch_run *to = sketch_run_add(near);
		struct rd_umap touched = RD_UMAP_INIT;

		*to = *from;
		to->events = NULL;
		to->count = to->capacity = 0;
		for (size_t k = 0; k < from->count; k++)
			if (is_near(runs, &from->events[k], sigma) && from->events[k].address)
				rd_umap_put(&touched, from->events[k].address, NULL);
		for (size_t k = 0; k < from->count; k++)
			if (is_near(runs, &from->events[k], sigma) ||
			    rd_umap_get(&touched, from->events[k].address))
				sketch_event_add(to, &from->events[k]);
		rd_umap_release(&touched);
	}
}

static void release_near(struct sketch_runs *near)
{
	for (size_t i = 0; i < near->count; i++)
		free(near->items[i].events);
	free(near->items);
	*near = (struct sketch_runs){0};
}

static uint32_t farthest(const struct sketch_runs *runs)
{
	uint32_t most = 0;

	for (size_t i = 0; i < runs->statement_count; i++)
		if (runs->statements[i].distance != UINT32_MAX && runs->statements[i].distance > most)
			most = runs->statements[i].distance;
	return most;
}

/* Whether the best one tells failing from passing runs. */
static bool is_good(const struct sketch_predictors *p)
{
	return p->count && p->items[0].f >= GOOD && p->items[0].passing < p->items[0].all_passing;
}

static void predict_at(const struct sketch_runs *runs, const char *signature, uint32_t sigma,
		       struct sketch_predictors *p)
{
	struct sketch_runs near;

	sketch_predictors_release(p);
	make_near(runs, sigma, &near);
	sketch_predict(&near, signature, p);
	release_near(&near);
}

/* σ = 2, 4, 8 ... until an order is good or the slice is tracked as a whole.  A value at the failing
 * statement is a symptom more often than a cause, so it is taken where no order is good. */
static uint32_t predict(const struct sketch_runs *runs, const char *signature, struct sketch_predictors *p)
{
	uint32_t sigma = FIRST_SIGMA, all = farthest(runs) + 1, first = 0;

	for (;; sigma *= 2) {
		predict_at(runs, signature, sigma, p);
		if (is_good(p) && !first)
			first = sigma;
		if (sigma >= all || (is_good(p) && p->items[0].type == SKETCH_ORDER))
			break;
	}
	if (first && !(is_good(p) && p->items[0].type == SKETCH_ORDER))
		predict_at(runs, signature, sigma = first, p);
	return sigma;
}

/* ---- interventions ---- */

/* Whether a statement of one table is one of another, as far as its line and what is done there tell. */
static bool is_same_place(const struct slice_statement *a, const struct slice_statement *b)
{
	return a->line == b->line && a->role == b->role &&
	       !strcmp(rd_base_name(a->file), rd_base_name(b->file));
}

/* Whether the last run has the order, with statement number `which` and those behind it still to be found in
 * its table. */
static bool has_order_from(const struct sketch_runs *runs, const struct lead_order *o,
			   struct sketch_predictor *p, size_t which)
{
	size_t at[3];

	if (which == p->count)
		return sketch_predictor_at(runs, &runs->items[runs->count - 1], p, at);
	for (uint32_t i = 0; i < runs->statement_count; i++) {
		if (!is_same_place(&runs->statements[i], &o->of->statements[o->order->statements[which]]))
			continue;
		p->statements[which] = i;
		if (has_order_from(runs, o, p, which + 1))
			return true;
	}
	return false;
}

/* An intervention that did not succeed says nothing. */
static bool has_order(const struct sketch_runs *runs, const struct lead_order *o)
{
	struct sketch_predictor p = *o->order;

	return has_order_from(runs, o, &p, 0);
}

static int try_order(struct work *w, const struct lead_order *o, struct sketch_tries *t)
{
	unsigned tries = w->how->tries ? w->how->tries : DIAGNOSE_TRIES;
	int err = RD_OK;

	for (unsigned i = 0; i < 2 * tries && t->runs < tries && !err && !is_over(w); i++) {
		bool said, failed;

		err = make_run(w, o, &said, &failed);
		if (said && has_order(w->lead.runs, o) == (o->will == LEAD_FORCE)) {
			t->runs++;
			t->failed += failed;
		}
		if (said)
			drop_last(w->lead.runs);
		show(w, o->will == LEAD_FORCE ? "with the order forced" : "with the order prevented");
	}
	return err;
}

/* The next order to try: the best one; when a cause is known, of those that are as good by the counts the one
 * that came true first, if that was before the cause: what leads to a cause is the cause. */
static struct sketch_predictor *next_order(struct sketch_predictors *p, const struct sketch_predictor *cause,
					   const bool *tried)
{
	struct sketch_predictor *next = NULL;

	for (size_t i = 0; i < p->count; i++) {
		struct sketch_predictor *now = &p->items[i];

		if (now->type != SKETCH_ORDER || tried[i])
			continue;
		if (!cause)
			return now;
		if (now->f >= cause->f && now->bound >= cause->bound &&
		    now->when < (next ? next : cause)->when)
			next = now;
	}
	return next;
}

/* Led runs have statements of their own. */
static int intervene(struct work *w, const struct sketch_runs *runs, struct sketch_predictors *p)
{
	struct sketch_predictor *next, *cause = NULL;
	bool *tried = rd_xcalloc(p->count + 1, sizeof *tried);
	struct sketch_runs led = {0};
	unsigned count = 0;
	int err = RD_OK;

	w->lead.runs = &led;
	sketch_predictors_time(runs, w->signature, p, TIMED);
	while (!w->how->no_intervention && count < INTERVENTIONS && !err && !is_over(w) &&
	       (next = next_order(p, cause, tried)) && (!count || next->f >= WORTH)) {
		struct sketch_predictor now = *next;

		tried[next - p->items] = true;
		count++;
		err = try_order(w, &(struct lead_order){LEAD_FORCE, &now, runs}, &now.forced);
		if (!err)
			err = try_order(w, &(struct lead_order){LEAD_PREVENT, &now, runs}, &now.prevented);
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

/* Whether the program as it is may show this failure, and can be tracked. */
static bool is_plain(const struct work *w, const struct sketch_failure *f, const struct reach *reach)
{
	return reach->sliced && (f->kind == SKETCH_CRASH || f->kind == SKETCH_ASSERTION) &&
	       !w->how->runs.companion && !w->how->runs.setup;
}

/* Whether nothing tells one failing run from a few passing ones: then more runs will not help, but a larger σ
 * may. */
static bool is_hopeless(const struct work *w, const struct sketch_runs *runs)
{
	struct sketch_predictors p = {0};
	bool good;

	sketch_predict(runs, w->signature, &p);
	good = is_good(&p);
	sketch_predictors_release(&p);
	return !good;
}

/* Runs with these delays (0: none) until there are enough, or `most` were made, or so many that none failed,
 * or it is clear that this σ is too small. */
static int collect_plain(struct work *w, struct plain *p, uint32_t sigma, size_t enough, bool delays)
{
	struct sketch_runs *runs = w->lead.runs;
	bool asked = sigma >= p->track.slice->statements || enough < PLAIN_FEW;
	size_t failing = 0, passing;
	int err = RD_OK;

	for (uint64_t n = 0; !err && n < PLAIN_MOST && (failing || n < PLAIN_NONE) && !is_over(w); n++) {
		bool said;

		if (rd_now_ns() >= w->plain_end_ns || has_enough(runs, p->signature, enough))
			break;
		err = plain_run(p, sigma, delays ? n + 1 : 0, runs, &said);
		w->number++;
		w->d->made += said;
		w->d->failed += said && runs->items[runs->count - 1].outcome != SKETCH_PASSED;
		if (said)
			drop_needless(runs, p->signature, enough);
		count_runs(runs, p->signature, &failing, &passing);
		show(w, delays ? "with delays" : "as it is");
		if (asked || !failing || passing < HOPE_PASSING)
			continue;
		asked = true;
		if (is_hopeless(w, runs))
			break;
	}
	return err;
}

/* Whether what leads is only that something had a value: the failing statement has one in every failure, so
 * more statements are asked where it came from. */
static bool is_symptom(const struct sketch_predictors *p)
{
	return is_good(p) && p->items[0].type == SKETCH_VALUE;
}

/* σ = 2, 4, 8, ... with new runs each time.  *found: a predictor tells failing from passing runs, which there
 * are enough of. */
static int track_slice(struct work *w, struct plain *p, struct sketch_predictors *out,
		       struct sketch_reach *reached, bool *found)
{
	struct sketch_runs *runs = w->lead.runs;
	uint32_t all = p->track.slice->statements;
	bool delays = false;
	int err = RD_OK;

	for (reached->sigma = FIRST_SIGMA; !err && !is_over(w); reached->sigma *= 2) {
		size_t failing, passing, enough = PLAIN_FEW;

		if (reached->near) /* five in all, if that is possible */
			enough = w->before + PLAIN_MORE <= ENOUGH_FAILING ? PLAIN_MORE : 1;

		sketch_predictors_release(out);
		sketch_runs_release(runs);
		err = collect_plain(w, p, reached->sigma, enough, delays);
		count_runs(runs, p->signature, &failing, &passing);
		if (!err && !failing && !delays) {
			delays = true;
			err = collect_plain(w, p, reached->sigma, enough, delays);
			count_runs(runs, p->signature, &failing, &passing);
		}
		if (err || !failing || passing < PLAIN_FEW)
			return err;
		sketch_predict(runs, p->signature, out);
		*found = is_good(out) && failing >= enough;
		if (reached->near || (*found && !is_symptom(out)) || reached->sigma >= all) {
			reached->near = reached->near ? reached->near : reached->sigma;
			return RD_OK;
		}
		w->before += failing;
		if (*found) {
			reached->near = reached->sigma;
			reached->sigma = (all < PLAIN_WHOLE ? all : PLAIN_WHOLE) / 2 + 1;
		}
	}
	return err;
}

/* Tries the program as it is.  False in *found: turns must help. */
static int explain_plain(struct work *w, const struct sketch_failure *f, struct reach *reach,
			 struct sketch_predictors *out, struct sketch_reach *reached, bool *found)
{
	struct plain p = {.streams = &w->lead.bench.streams,
			  .argv = w->how->runs.program->argv,
			  .failure = f,
			  .signature = w->signature,
			  .judge = &w->judge,
			  .limit_ms = PLAIN_LIMIT_MS};
	char *message = NULL;
	struct rd_context quiet = {.log = rd_log_first, .data = &message};
	int64_t now = rd_now_ns();
	int err;

	w->plain_end_ns = now + (w->end_ns ? (w->end_ns - now) / 2 : PLAIN_NS);
	rd_context_enter(&quiet);
	err = plain_open(&p, w->how->runs.program->program->path, &reach->slice);
	if (!err)
		err = track_slice(w, &p, out, reached, found);
	rd_context_leave(&quiet);
	plain_close(&p);
	if (err && !w->d->untracked)
		w->d->untracked = rd_xstrdup(message ? message : "the program cannot be tracked as it is");
	free(message);
	if (!*found) {
		sketch_predictors_release(out);
		w->before = 0; /* turns look at all of the slice at once, in runs of their own */
	}
	return RD_OK;
}

/* ---- the whole ---- */

/* A program that hangs does so by its locks, wherever they stand. */
static void bring_locks_near(struct sketch_runs *runs)
{
	for (size_t i = 0; i < runs->statement_count; i++) {
		struct slice_statement *s = &runs->statements[i];

		if (s->kind == SLICE_SYNC && s->role != SLICE_NEUTRAL && s->distance > 1)
			s->distance = 1;
	}
}

static void set_distances(struct sketch_runs *runs, struct reach *reach, const char *signature)
{
	if (!reach->sliced) {
		count_back(runs, signature);
		return;
	}
	for (size_t i = 0; i < runs->statement_count; i++) {
		runs->statements[i].distance = reach_distance(reach, &runs->statements[i]);
		runs->statements[i].found = runs->statements[i].distance == UINT32_MAX;
	}
}

/* Looks at what the first `sigma` statements reach; where there is no slice, everywhere. */
static void look_at_first(struct work *w, struct reach *reach, uint32_t sigma)
{
	reach_sites(reach, w->lead.sites, sigma);
	w->lead.watch = reach->count ? reach->sites : NULL;
	w->lead.watch_count = reach->count;
}

/* By turns: a large part of the slice is looked at in the same runs; all of a large one only if its first
 * statements tell nothing, since the program stands at each of them. */
static int look_by_turns(struct work *w, size_t failure, struct reach *reach, struct sketch_predictors *out,
			 uint32_t *sigma)
{
	struct sketch_runs *runs = w->lead.runs;
	uint32_t all = reach->sliced ? reach->slice.statements : 0;
	int err = RD_OK;

	for (uint32_t part = LED_FIRST;; part *= LED_TIMES) {
		size_t failing, passing;

		look_at_first(w, reach, part);
		sketch_runs_release(runs);
		err = collect(w, w->signature);
		set_distances(runs, reach, w->signature);
		if (w->failures[failure].kind == SKETCH_HANG)
			bring_locks_near(runs);
		if (!err)
			*sigma = predict(runs, w->signature, out);
		if (err || is_over(w) || part >= all || is_good(out))
			return err;
		count_runs(runs, w->signature, &failing, &passing);
		w->before += failing;
	}
}

static int explain_led(struct work *w, size_t failure, struct reach *reach, struct sketch_predictors *out,
		       uint32_t *sigma)
{
	const char *first = w->schedules[failure];
	struct schedule near = {0};
	int err;

	if (first && !schedule_parse(&near, first, strlen(first), "a failing run"))
		w->lead.near = &near;
	err = look_by_turns(w, failure, reach, out, sigma);
	w->lead.near = NULL;
	schedule_release(&near);
	return err;
}

/* A run that went its own way cannot be repeated; another one that failed in the same way can. */
static void give_schedule(struct sketch *s, const char *schedule)
{
	if (!s->schedule && schedule)
		s->schedule = rd_arena_strndup(s->arena, schedule, strlen(schedule));
}

/* Branches that were not watched are added only now: those of which nothing is known but that somebody came
 * by tell nothing about failing and passing. */
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

/* Runs, predictors, interventions and the sketch of one signature. */
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

	w->signature = signature;
	w->before = 0;
	w->lead.runs = runs;
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
	int err;

	*d = (struct diagnosis){0};
	if (how->time_ms)
		w.end_ns = rd_now_ns() + (int64_t)how->time_ms * 1000000;
	w.lead = (struct lead){.runs = &d->runs[0], .sites = how->runs.program->sites, .judge = &w.judge};
	w.lead.callers = how->facts ? &callers : NULL;
	w.judge.command = how->fail_if;
	err = trial_open(&w.lead.bench, &how->runs, NULL);
	rd_interrupt_begin(&w.signals);
	if (!err)
		err = find_failure(&w);
	if (!err && !d->interrupted)
		err = explain_all(&w);
	d->set.runs = d->made;
	rd_interrupt_end(&w.signals);
	sketch_places_release(&w.lead.places);
	caller_release(&callers);
	trial_close(&w.lead.bench);
	rd_names_release(&w.signatures);
	judge_release(&w.judge);
	for (size_t i = 0; i < w.failure_count; i++)
		sketch_failure_release(&w.failures[i]);
	RD_FREE_EACH(w.schedules, w.failure_count);
	RD_FREE(w.failures, w.schedules);
	return err;
}
