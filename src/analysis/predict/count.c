/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the races and deadlocks of a trace.
 *
 * For each access, the first pass decides whether it is the second access of a race.  It stops at
 * the first race of each access, so a separate pass counts pairs of source lines.  There is no
 * overall budget for races.  An answer is unknown only if a single question takes more than fifty
 * million steps.
 */
#include "predict/count.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "predict/fill.h"
#include "predict/predict-int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *predict_count_name(enum predict_count_semantics semantics)
{
	RD_ASSERT(semantics < PREDICT_COUNT_SEMANTICS);
	static const char *const names[] = {"sync-preserving", "sound", "speculative"};

	return names[semantics];
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct predict_opts opts_of(enum predict_count_semantics semantics)
{
	return (struct predict_opts){.sound_only = semantics != PREDICT_COUNT_SPECULATIVE,
				     .speculative_only = semantics == PREDICT_COUNT_SPECULATIVE,
				     .recorded_order_only = semantics == PREDICT_COUNT_SYNC_PRESERVING};
}

/* Numbers the source lines. */
struct places {
	const struct trace_sites *sites;
	struct rd_names names;
	struct rd_umap of_site; /* maps a site to 1 + the number of its line */
};

static uint32_t place_of(struct places *p, uint32_t site)
{
	const struct trace_site *s = trace_sites_find(p->sites, site);
	uint64_t *number = rd_umap_put(&p->of_site, site, NULL);

	if (!*number) {
		char *name = s ? rd_xasprintf("%s:%u", trace_sites_file(p->sites, s->file), s->line)
			       : rd_xasprintf("%u", site);
		*number = rd_names_put(&p->names, name, strlen(name)) + 1;
		free(name);
	}
	return (uint32_t)(*number - 1);
}

static void places_release(struct places *p)
{
	rd_names_release(&p->names);
	rd_umap_release(&p->of_site);
}

static void count_racy(const struct predict_trace *t, const uint8_t *racy, struct predict_count *out)
{
	RD_ASSERT(racy != NULL || t->x.count == 0);
	struct places places = {.sites = t->model->sites};
	uint8_t *variables = rd_xcalloc((size_t)t->x.variables + 1, 1);

	for (size_t i = 0; i < t->x.count; i++) {
		const struct exec_event *e = &t->x.events[i];
		if (!racy[i])
			continue;
		out->events++;
		out->variables += !variables[e->object];
		variables[e->object] = 1;
		place_of(&places, e->site);
	}
	out->locations = places.names.count;
	free(variables);
	places_release(&places);
}

static int count_events(const struct predict_trace *t, struct predict_opts o, struct predict_count *out)
{
	struct predict_result r;
	double start = cpu_seconds();
	int err;

	o.no_deadlocks = true;
	o.count_events = true;
	err = predict_run(&t->x, &o, &r);
	out->event_seconds = cpu_seconds() - start;
	if (!err && r.racy)
		count_racy(t, r.racy, out);
	out->unknown += r.stats[o.speculative_only].unknown;
	predict_result_release(&r);
	return err;
}

static int count_pairs(const struct predict_trace *t, struct predict_opts o, struct predict_count *out)
{
	struct places places = {.sites = t->model->sites};
	struct rd_umap pairs = RD_UMAP_INIT;
	struct predict_result r;
	double start = cpu_seconds();
	int err;

	o.no_deadlocks = true;
	o.max_tries = UINT32_MAX;
	o.total_work = INT64_MAX;
	err = predict_run(&t->x, &o, &r);
	out->pair_seconds = cpu_seconds() - start;
	for (size_t i = 0; i < r.race_count; i++) {
		uint64_t a = place_of(&places, t->x.events[r.races[i].first].site);
		uint64_t b = place_of(&places, t->x.events[r.races[i].second].site);
		rd_umap_put(&pairs, a < b ? a << 32 | b : b << 32 | a, NULL);
	}
	out->pairs = pairs.count;
	out->unknown += r.stats[o.speculative_only].unknown;
	predict_result_release(&r);
	rd_umap_release(&pairs);
	places_release(&places);
	return err;
}

static int count_deadlocks(const struct predict_trace *t, struct predict_opts o, struct predict_count *out)
{
	struct predict_result r;
	int err;

	o.no_races = true;
	err = predict_run(&t->x, &o, &r);
	out->deadlocks = r.deadlock_count;
	out->unknown += r.stats[o.speculative_only].unknown;
	predict_result_release(&r);
	return err;
}

int predict_count(const struct predict_trace *t, enum predict_count_semantics semantics,
		  const struct predict_count_opts *o, struct predict_count *out)
{
	struct predict_opts opts = opts_of(semantics);
	int err = RD_OK;

	*out = (struct predict_count){0};
	opts.window = o->window;
	if (!o->no_races)
		err = count_events(t, opts, out);
	if (!err && !o->no_races && o->pairs)
		err = count_pairs(t, opts, out);
	if (!err && !o->no_deadlocks)
		err = count_deadlocks(t, opts, out);
	return err;
}
