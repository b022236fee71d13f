// SPDX-License-Identifier: Apache-2.0
/* Sketches at a hive.  From a plan, and from the records of runs in their order, this code
 * computes the σ to request from sites, and the sketch.  Predictors and steps are computed by the
 * code of `raddle sketch`. */
#include "hive/sketch.h"

#include "base/alloc.h"
#include "base/error.h"
#include "report/sketch.h"

#include <stdlib.h>
#include <string.h>

#define GOOD 0.95 /* an F-measure that counts as an explanation, as in raddle sketch */
/* Numbers of statements and runs.  They were set by hand, as in sketch/choose-int.h.  The numbers
 * of failing runs are smaller here, because in a fleet each failing run is a failure of a user's
 * program. */
enum {
	FIRST_SIGMA = 2, /* number of statements: the failing one and the one before it */
	/* If no predictor distinguishes one failing run from this many passing runs, σ is too
	 * small. */
	FEW_PASSING = 10,
	ENOUGH_FAILING = 3,
	ENOUGH_PASSING = 30,
	MOST_FAILING = 5, /* maximum number of failing runs that are kept for one σ */
};

const char *const hive_sketch_state_names[HIVE_SKETCH_STATES] = {"tracking", "explained", "exhausted"};

int hive_sketch_open(struct hive_sketch *s, const char *document, size_t length)
{
	struct rd_json_read r = {.subject = "sketch", .name = "plan"};
	json_t *root = rd_json_load(&r, document, length);

	*s = (struct hive_sketch){.sigma = FIRST_SIGMA};
	if (!root)
		return r.err;
	sketch_plan_read(&s->plan, &r, root);
	json_decref(root);
	return r.err;
}

void hive_sketch_release(struct hive_sketch *s)
{
	sketch_plan_release(&s->plan);
	*s = (struct hive_sketch){0};
}

/* Returns the runs with the current σ or, if `last` is set, with the previous σ.  The plan owns the
 * runs. */
static struct sketch_runs runs_of(const struct hive_sketch *s, bool last)
{
	RD_ASSERT(s->first <= s->plan.runs.count);
	struct sketch_runs runs = s->plan.runs;

	runs.items += last ? 0 : s->first;
	runs.count = last ? s->first : runs.count - s->first;
	return runs;
}

static void count(const struct sketch_runs *runs, size_t *failing, size_t *passing)
{
	*failing = *passing = 0;
	for (size_t i = 0; i < runs->count; i++) {
		*failing += runs->items[i].outcome != SKETCH_PASSED;
		*passing += runs->items[i].outcome == SKETCH_PASSED;
	}
}

static bool is_explained(const struct hive_sketch *s, const struct sketch_runs *runs)
{
	struct sketch_predictors p;
	bool good;

	sketch_predict(runs, s->plan.signature, &p);
	good = p.count && p.items[0].f >= GOOD;
	sketch_predictors_release(&p);
	return good;
}

static void drop_runs(struct sketch_runs *runs, size_t count)
{
	RD_ASSERT(count <= runs->count);
	for (size_t i = 0; i < count; i++)
		RD_FREE(runs->items[i].signature, runs->items[i].events);
	memmove(runs->items, runs->items + count, (runs->count - count) * sizeof *runs->items);
	runs->count -= count;
}

/* Decides whether there are enough runs to change σ or to end the tracking. */
static void decide(struct hive_sketch *s)
{
	RD_ASSERT(s->sigma >= FIRST_SIGMA && s->state == HIVE_TRACKING);
	struct sketch_runs runs = runs_of(s, false);
	size_t failing, passing;

	count(&runs, &failing, &passing);
	if (!failing || passing < FEW_PASSING)
		return;
	bool good = is_explained(s, &runs), all = s->sigma >= s->plan.sigma;
	bool enough = failing >= ENOUGH_FAILING && passing >= ENOUGH_PASSING;
	if (good && enough)
		s->state = HIVE_EXPLAINED;
	else if (!good && all && enough)
		s->state = HIVE_EXHAUSTED;
	if (good || all)
		return;
	drop_runs(&s->plan.runs, s->first);
	s->first = s->plan.runs.count;
	s->sigma *= 2;
}

bool hive_sketch_wants(const struct hive_sketch *s, uint32_t sigma, bool failed)
{
	struct sketch_runs runs = runs_of(s, false);
	size_t failing, passing;

	count(&runs, &failing, &passing);
	return s->state == HIVE_TRACKING && sigma == s->sigma &&
	       (failed ? failing < MOST_FAILING : passing < ENOUGH_PASSING);
}

int hive_sketch_apply(struct hive_sketch *s, const char *record, size_t length)
{
	struct rd_json_read r = {.subject = "sketch", .name = "record"};
	json_t *root = rd_json_load(&r, record, length);
	struct sketch_runs *runs = &s->plan.runs;
	uint32_t sigma;

	if (!root)
		return r.err;
	if (!sketch_record_read(&s->plan, &r, root, &sigma)) {
		bool failed = runs->items[--runs->count].outcome != SKETCH_PASSED;

		if (hive_sketch_wants(s, sigma, failed)) {
			runs->count++;
			s->failing += failed;
			s->passing += !failed;
			decide(s);
		} else {
			RD_FREE(runs->items[runs->count].signature, runs->items[runs->count].events);
		}
	}
	json_decref(root);
	return r.err;
}

/* ---- output ---- */

static const char *source_of(void *context, const struct sketch_step *step)
{
	const struct sketch_plan *p = context;

	for (size_t i = 0; i < p->runs.statement_count; i++)
		if (p->runs.statements[i].line == step->line && step->file && p->sources[i] &&
		    !strcmp(p->runs.statements[i].file, step->file))
			return p->sources[i];
	return NULL;
}

static const struct sketch_run *first_failing(const struct sketch_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		if (runs->items[i].outcome != SKETCH_PASSED)
			return &runs->items[i];
	return NULL;
}

int hive_sketch_write(const struct hive_sketch *s, const char *program, hive_sketch_fn *write, FILE *out)
{
	struct sketch_runs runs = runs_of(s, false);
	uint32_t sigma = s->sigma;
	struct sketch one;
	struct sketch_set set = {.items = &one, .program = program};
	struct sketch_report r = {.set = &set, .source = source_of, .context = (void *)&s->plan};
	struct sketch_predictors p;

	if (!first_failing(&runs) && s->first) {
		runs = runs_of(s, true);
		sigma /= 2;
	}
	set.runs = runs.count;
	set.note = s->state == HIVE_TRACKING ? "The runs are those of sites in production; more are awaited."
					     : "The runs are those of sites in production.";
	if (first_failing(&runs)) {
		sketch_predict(&runs, s->plan.signature, &p);
		sketch_draw(&one, &runs, &s->plan.failure, &p,
			    &(struct sketch_reach){.sigma = sigma, .near = sigma});
		set.count = 1;
	}
	int err = write(&r, out);
	if (set.count) {
		sketch_predictors_release(&one.predictors);
		rd_arena_free(one.arena);
	}
	return err;
}
