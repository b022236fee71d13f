/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a prediction: reduce the execution, then for each model compute the
 * needs, and look for races and deadlocks.  The sound model goes first; what
 * comes after it only adds what it did not find.  Where some reads are unsure, what
 * would be sound if they were not is looked for in between: it is speculative, but its
 * schedules keep the values that are known, so that a replay is likelier to get there.
 */
#include "predict/internal.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "predict/lane.h"
#include "predict/window.h"

#include <stdlib.h>
#include <string.h>

/* Of the time that is given, the part that is kept for the speculative model whatever the sound one takes. */
#define SPECULATIVE_SHARE 4

#define MANY_THREADS 256   /* below that, clocks are no burden */
#define LEAST_WINDOW 10000 /* events, however little memory there is */

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

void predict_hand_on(struct predictor *r)
{
	int64_t more_ns;

	if (!r->o->found || !(r->out->race_count + r->out->deadlock_count))
		return;
	more_ns = r->o->found(r->o->context, r->out);
	r->put_off_ns += more_ns;
	r->s.deadline_ns += r->s.deadline_ns ? more_ns : 0;
}

/* The sound model and the one that takes unsure accesses as recorded share a budget. */
static int64_t total_work(const struct predict_opts *o, bool shared)
{
	int64_t total = o->total_work ? o->total_work : DEFAULT_TOTAL_WORK;

	if (!o->total_work && o->count_events)
		return INT64_MAX;
	return shared ? total / 2 : total;
}

/* When a model that begins now has to stop. */
static int64_t deadline_of(const struct predictor *r, bool last)
{
	int64_t now = rd_now_ns(), end = r->o->deadline_ns + r->put_off_ns, left = end > now ? end - now : 0;

	return !r->o->deadline_ns ? 0 : last ? end : now + left - left / SPECULATIVE_SHARE;
}

enum model { MODEL_SOUND, MODEL_UNSURE, MODEL_SPECULATIVE };

static void run_model(struct predictor *r, enum model model)
{
	r->class = model == MODEL_SOUND ? PREDICT_SOUND : PREDICT_SPECULATIVE;
	r->c.walls = model == MODEL_SOUND && r->c.unsure;
	if (model != MODEL_UNSURE)
		core_clocks(&r->c, model == MODEL_SOUND);
	search_init(&r->s, &r->c, r->o->work ? r->o->work : DEFAULT_WORK);
	r->s.deadline_ns = deadline_of(r, model == MODEL_SPECULATIVE || r->o->sound_only);
	bool shared = model != MODEL_SPECULATIVE && r->c.unsure && !r->o->sound_only;
	r->s.total = total_work(r->o, shared);
	if (!r->o->no_races)
		predict_races(r);
	r->s.total = total_work(r->o, shared);
	if (!r->o->no_deadlocks)
		predict_deadlocks(r);
	predict_hand_on(r);
	r->out->late |= r->s.late;
	search_release(&r->s);
}

static void run_whole(const struct exec *x, const struct predict_opts *o, struct predict_result *out)
{
	struct rd_umap own = RD_UMAP_INIT;
	struct predictor r = {.o = o, .out = out, .pairs = o->pairs ? o->pairs : &own};

	if (o->count_events)
		out->racy = rd_xcalloc(x->count + 1, 1);
	core_build(&r.c, x);
	out->kept += r.c.count;
	r.p = rd_xcalloc((size_t)r.c.threads + 1, sizeof *r.p);
	if (!o->speculative_only)
		run_model(&r, MODEL_SOUND);
	if (!o->speculative_only && !o->sound_only && r.c.unsure)
		run_model(&r, MODEL_UNSURE);
	if (!o->sound_only)
		run_model(&r, MODEL_SPECULATIVE);
	RD_UMAP_RELEASE(&own, &r.cycles);
	rd_tuples_release(&r.identities);
	free(r.p);
	core_release(&r.c);
}

/* Clocks have a number for each lane, and every operation may have a clock in two tables.  In a piece there
 * are no more lanes than events. */
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

int predict_run(const struct exec *x, const struct predict_opts *o, struct predict_result *out)
{
	const char *why;
	uint32_t bad;

	*out = (struct predict_result){0};
	if (x->count >= EXEC_MATCH)
		return rd_fail(RD_ELIMIT, "predict: %zu events are more than 4 billion", x->count);
	bad = exec_check(x, &why);
	if (bad != EXEC_NONE)
		return rd_fail(RD_EFORMAT, "predict: event %u %s", bad, why);
	struct predict_opts own = *o;
	own.window = window_of(x, o);
	if (own.begin || (own.window && own.window < x->count))
		predict_windows(x, &own, out, run_whole);
	else
		run_whole(x, &own, out);
	return 0;
}
