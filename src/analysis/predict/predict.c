/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches an execution for races and deadlocks in other schedules.  First it reduces the
 * execution.  Then it computes, for each semantics, the events that each event needs before it,
 * and looks for races and deadlocks.
 *
 * The first pass uses sound semantics, in which every read finds its recorded value.  The last
 * pass uses speculative semantics.  Each pass adds only new results.  If it is unsure what some
 * reads returned, a pass between the two assumes that they read what was recorded.  Its results
 * are also speculative.  Their schedules keep the known values, so that a replay is more likely to
 * succeed.
 */
#include "predict/internal-int.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/deadline.h"
#include "base/error.h"
#include "predict/lane-int.h"
#include "predict/window-int.h"

#include <stdlib.h>
#include <string.h>

/* 1/SPECULATIVE_SHARE of the time is reserved for speculative semantics.  Set by hand. */
#define SPECULATIVE_SHARE 4

/* If there are fewer lanes than this, the size of clocks is not checked.  Set by hand. */
#define MANY_THREADS 256
/* The smallest number of events in a window, even if memory is short.  Set by hand. */
#define LEAST_WINDOW 10000

/* The largest number of search steps for one question, and for all questions of a phase.  Set by
 * hand: these steps take seconds and minutes, respectively. */
#define DEFAULT_WORK 50000000
#define DEFAULT_TOTAL_WORK 1000000000

static void witness_release(struct predict_witness *w)
{
	free(w->done);
	free(w->order);
}

void predict_result_clear(struct predict_result *r)
{
	for (size_t i = 0; i < r->race_count; i++)
		witness_release(&r->races[i].witness);
	for (size_t i = 0; i < r->deadlock_count; i++) {
		free(r->deadlocks[i].stops);
		witness_release(&r->deadlocks[i].witness);
	}
	r->race_count = r->deadlock_count = 0;
}

void predict_result_release(struct predict_result *r)
{
	predict_result_clear(r);
	RD_FREE(r->races, r->deadlocks, r->racy);
	*r = (struct predict_result){0};
}

/* Returns the total budget of a pass.  The sound pass shares one budget with the pass that assumes
 * that unsure accesses happened in the recorded order. */
static int64_t total_work(const struct predict_opts *o, bool shared)
{
	int64_t total = o->total_work ? o->total_work : DEFAULT_TOTAL_WORK;

	if (!o->total_work && o->count_events)
		return INT64_MAX;
	return shared ? total / 2 : total;
}

/* Returns the time at which a pass that begins now has to stop. */
static int64_t deadline_of(const struct predictor *r, bool last)
{
	int64_t end = r->o->deadline_ns ? r->o->deadline_ns + r->extension_ns : 0;

	return last ? end : rd_deadline_share(end, 1 - 1.0 / SPECULATIVE_SHARE);
}

enum semantics { SEMANTICS_SOUND, SEMANTICS_UNSURE, SEMANTICS_SPECULATIVE, SEMANTICS_NONE };

struct predict_steps {
	struct predict_opts o;
	const struct exec *x;
	struct predict_result *out;
	struct predict_windows *windows; /* NULL if the execution is searched as a whole */
	/* How much later the deadline is than the one in `o`. */
	int64_t extension_ns;

	/* The current window; valid if `searching`. */
	bool searching;
	struct predict_opts window_opts;
	struct predict_result window_out; /* results of the current window */
	struct predictor r;
	struct rd_umap
		/* The pairs of sites with a known race, so that each pair is reported only once
		 * over all windows.  Not used if the caller provides such a map in `o.pairs`. */
		own;
	enum semantics semantics; /* SEMANTICS_NONE when all are done */
	/* True if the search for races with the current semantics has begun. */
	bool races_are_open;
};

/* Returns true if the vector clocks fit into the memory.  A clock has one number for each lane (a
 * group of threads that never run at the same time).  Every operation may have a clock in each of
 * two tables.  A piece has no more lanes than events. */
static bool clocks_fit(const struct exec *x, const struct predict_opts *o, uint32_t lanes, uint64_t piece)
{
	uint64_t operations = 0;

	for (size_t i = 0; i < x->count; i++)
		operations += !exec_is_access(x->events[i].kind);
	operations = operations * piece / x->count + 1;
	return (lanes < piece ? lanes : piece) * operations * 2 * sizeof(uint32_t) <= o->memory;
}

static uint32_t window_of(const struct exec *x, const struct predict_opts *o)
{
	uint64_t piece = x->count;
	uint32_t lanes;

	if (o->window || !o->memory || x->threads < MANY_THREADS || o->count_events)
		return o->window;
	free(predict_lanes(x, &lanes));
	while (lanes >= MANY_THREADS && piece > LEAST_WINDOW && !clocks_fit(x, o, lanes, piece))
		piece /= 2;
	return piece < x->count ? (uint32_t)piece : 0;
}

static bool has_semantics(const struct predict_steps *s, enum semantics semantics)
{
	const struct predict_opts *o = &s->o;

	switch (semantics) {
	case SEMANTICS_SOUND: return !o->speculative_only;
	case SEMANTICS_UNSURE: return !o->speculative_only && !o->sound_only && s->r.c.unsure;
	case SEMANTICS_SPECULATIVE: return !o->sound_only;
	case SEMANTICS_NONE: return true;
	}
	RD_BUG("the semantics of a prediction");
}

static int64_t total_of(const struct predict_steps *s)
{
	bool shared = s->semantics != SEMANTICS_SPECULATIVE && s->r.c.unsure && !s->o.sound_only;

	return total_work(&s->o, shared);
}

/* Begins the next semantics that the options request: `semantics` itself or a later one. */
static void open_semantics(struct predict_steps *s, enum semantics semantics)
{
	struct predictor *r = &s->r;

	while (!has_semantics(s, semantics))
		semantics++;
	s->semantics = semantics;
	if (semantics == SEMANTICS_NONE)
		return;
	r->class = semantics == SEMANTICS_SOUND ? PREDICT_SOUND : PREDICT_SPECULATIVE;
	r->c.walls = semantics == SEMANTICS_SOUND && r->c.unsure;
	if (semantics != SEMANTICS_UNSURE)
		core_clocks(&r->c, semantics == SEMANTICS_SOUND);
	search_init(&r->s, &r->c, s->o.work ? s->o.work : DEFAULT_WORK);
	r->s.deadline_ns = deadline_of(r, semantics == SEMANTICS_SPECULATIVE || s->o.sound_only);
	r->s.total = total_of(s);
	s->races_are_open = !s->o.no_races;
	if (s->races_are_open)
		predict_races_open(r);
}

static void open_window(struct predict_steps *s, const struct exec *x)
{
	struct predictor *r = &s->r;
	int64_t deadline_ns = s->o.deadline_ns ? s->o.deadline_ns + s->extension_ns : 0;

	s->window_opts = s->o;
	s->window_opts.deadline_ns =
		s->windows ? predict_windows_deadline(s->windows, deadline_ns) : deadline_ns;
	*r = (struct predictor){.o = &s->window_opts,
				.out = s->windows ? &s->window_out : s->out,
				.pairs = s->o.pairs ? s->o.pairs : &s->own};
	if (s->o.count_events)
		r->out->racy = rd_xcalloc(x->count + 1, 1);
	core_build(&r->c, x);
	r->out->kept += r->c.count;
	r->p = rd_xcalloc((size_t)r->c.threads + 1, sizeof *r->p);
	s->searching = true;
	open_semantics(s, SEMANTICS_SOUND);
}

static void close_semantics(struct predict_steps *s)
{
	RD_ASSERT(s->semantics != SEMANTICS_NONE);
	if (s->races_are_open)
		predict_races_close(&s->r);
	s->races_are_open = false;
	s->r.out->late |= s->r.s.late;
	search_release(&s->r.s);
}

static void close_window(struct predict_steps *s)
{
	struct predictor *r = &s->r;

	RD_ASSERT(s->searching);
	RD_UMAP_RELEASE(&r->cycles);
	rd_tuples_release(&r->identities);
	free(r->p);
	core_release(&r->c);
	s->searching = false;
	if (s->windows)
		predict_windows_end(s->windows, &s->window_out, s->out);
}

/* Looks for races with the next effort.  After the last effort, looks for deadlocks, which is the
 * last step of the current semantics. */
static void step(struct predict_steps *s)
{
	struct predictor *r = &s->r;

	if (s->races_are_open && predict_races_next(r))
		return;
	r->s.total = total_of(s);
	if (!s->o.no_deadlocks)
		predict_deadlocks(r);
	close_semantics(s);
	open_semantics(s, s->semantics + 1);
}

bool predict_next(struct predict_steps *s)
{
	if (!s->searching) {
		const struct exec *x = s->windows ? predict_windows_next(s->windows) : s->x;

		s->x = NULL;
		if (!x)
			return false;
		open_window(s, x);
	}
	if (s->semantics != SEMANTICS_NONE)
		step(s);
	if (s->windows)
		predict_windows_gather(s->windows, &s->window_out, s->out);
	if (s->semantics == SEMANTICS_NONE)
		close_window(s);
	return true;
}

void predict_extend_deadline(struct predict_steps *s, int64_t ns)
{
	RD_ASSERT(ns >= 0);
	s->extension_ns += ns;
	s->r.extension_ns += ns;
	s->r.s.deadline_ns += s->r.s.deadline_ns ? ns : 0;
}

int predict_open(struct predict_steps **steps, const struct exec *x, const struct predict_opts *o,
		 struct predict_result *out)
{
	struct predict_steps *s;
	const char *why;
	uint32_t bad;

	*out = (struct predict_result){0};
	if (x->count >= EXEC_MATCH)
		return rd_fail(RD_ELIMIT, "predict: the run has %zu events; about 4 billion is the limit",
			       x->count);
	bad = exec_check(x, &why);
	if (bad != EXEC_NONE)
		return rd_fail(RD_EFORMAT, "predict: event %u %s", bad, why);
	s = rd_xcalloc(1, sizeof *s);
	*s = (struct predict_steps){.o = *o, .x = x, .out = out, .own = RD_UMAP_INIT};
	s->o.window = window_of(x, o);
	if (s->o.begin || (s->o.window && s->o.window < x->count))
		s->windows = predict_windows_open(x, &s->o);
	*steps = s;
	return RD_OK;
}

void predict_close(struct predict_steps *s)
{
	if (!s)
		return;
	if (s->searching && s->semantics != SEMANTICS_NONE)
		close_semantics(s);
	if (s->searching)
		close_window(s);
	predict_windows_close(s->windows);
	rd_umap_release(&s->own);
	free(s);
}

int predict_run(const struct exec *x, const struct predict_opts *o, struct predict_result *out)
{
	struct predict_steps *s;
	int err = predict_open(&s, x, o, out);

	if (err)
		return err;
	while (predict_next(s))
		;
	predict_close(s);
	return RD_OK;
}
