// SPDX-License-Identifier: Apache-2.0
/*
 * Turns traces into a set of findings with schedules, or into counts of races and deadlocks.
 * Several traces may be added to one set. pass.h offers the same prediction step by step.
 */
#include "predict/batch.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/memory.h"
#include "model/open.h"
#include "predict/describe-int.h"
#include "predict/hang.h"
#include "predict/pass-int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/* The default memory limit in bytes.  It was set by hand to suit a laptop. */
#define MEMORY_DEFAULT (2ull << 30)

/* A prediction from the trace of a replay may use 1/REPLAY_WORK_SHARE of the usual search steps,
 * because there may be many replays.  Set by hand. */
#define REPLAY_WORK_SHARE 10

uint64_t predict_batch_memory(void)
{
	uint64_t half = rd_memory_total() / 2;

	return half && half < MEMORY_DEFAULT ? half : MEMORY_DEFAULT;
}

int predict_batch_run(struct predict_batch *p, const char *path, struct finding_set *set)
{
	RD_ASSERT(path && set);
	enum predict_event event = PREDICT_FOUND;
	struct predict_pass *pass;
	int err = predict_pass_open(&pass, p, path, set);

	while (!err && event != PREDICT_OVER)
		err = predict_pass_next(pass, &event);
	predict_pass_close(pass);
	return err;
}

int predict_batch_again(void *context, const char *path, struct finding_set *set)
{
	struct predict_batch less = *(const struct predict_batch *)context;
	int err;

	less.work = (less.work + REPLAY_WORK_SHARE - 1) / REPLAY_WORK_SHARE;
	less.failures = false;
	less.scheduled_only = true; /* a finding without a schedule cannot be replayed */
	less.modules = (struct rd_argv)RD_ARGV_INIT;
	err = predict_batch_run(&less, path, set);
	rd_argv_release(&less.modules);
	if (!err)
		finding_set_finish(set);
	return err;
}

int predict_batch_look(struct predict_batch *p, const char *path, struct finding_set *set)
{
	RD_ASSERT(path && set);
	struct predict_unordered_list list = {0};
	struct model_file in;
	int err = model_open_parts(&in, path, p->force, p->deadline_ns);

	if (!err)
		predict_find_unordered(in.model, p->memory / PREDICT_CLOCK_SHARE, &list);
	for (size_t i = 0; i < list.count; i++)
		predict_describe_unordered(
			in.model, &list.items[i],
			"unordered in a further recorded run; no order that brings the two "
			"together was looked for",
			set);
	if (!err && !trace_is_late(in.trace))
		pass_look_at_end(p, in.model, set);
	if (!err)
		pass_set_arguments(set, trace_get_meta(in.trace));
	predict_unordered_release(&list);
	model_close(&in);
	finding_set_finish(set);
	return err;
}

bool predict_batch_shows(const char *trace, const uint32_t sites[2])
{
	struct predict_unordered_list list = {0};
	struct model_file in;
	uint64_t wanted = predict_pair_key(sites[0], sites[1]);
	bool shown = false;

	if (model_open_parts(&in, trace, false, 0) == RD_OK)
		predict_find_unordered(in.model, predict_batch_memory() / PREDICT_CLOCK_SHARE, &list);
	for (size_t i = 0; i < list.count && !shown; i++)
		shown = list.items[i].firm &&
			predict_pair_key(list.items[i].sites[0], list.items[i].sites[1]) == wanted;
	predict_unordered_release(&list);
	model_close(&in);
	return shown;
}

/* ---- counts of races ---- */

unsigned predict_batch_semantics(const struct predict_batch *p)
{
	return p->sync_preserving ? PREDICT_COUNT_SYNC_PRESERVING + 1
	       : p->sound_only	  ? PREDICT_COUNT_SOUND + 1
				  : PREDICT_COUNT_SEMANTICS;
}

static void put_stats(struct finding_set *set, const char *model, const struct predict_count *c, bool pairs)
{
	const struct {
		const char *name;
		double value;
	} stats[] = {{"racy_events", (double)c->events},       {"racy_locations", (double)c->locations},
		     {"racy_variables", (double)c->variables}, {"deadlocks", (double)c->deadlocks},
		     {"unknown", (double)c->unknown},	       {"cpu_seconds", c->event_seconds},
		     {"location_pairs", (double)c->pairs},     {"pairs_cpu_seconds", c->pair_seconds}};

	for (size_t i = 0; i < sizeof stats / sizeof *stats - (pairs ? 0 : 2); i++)
		finding_stat(set, finding_textf(set, "%s.%s", model, stats[i].name), stats[i].value);
}

static int count_trace(struct predict_batch *p, const struct predict_trace *t, struct finding_set *set,
		       bool pairs)
{
	struct predict_count_opts o = {.no_races = p->no_races,
				       .no_deadlocks = p->no_deadlocks,
				       .window = (uint32_t)p->window,
				       .pairs = pairs};
	int err = RD_OK;

	for (unsigned i = 0; i < predict_batch_semantics(p) && !err; i++) {
		err = predict_count(t, i, &o, &p->counts[i]);
		put_stats(set, predict_count_name(i), &p->counts[i], pairs);
		p->unknown += p->counts[i].unknown;
	}
	return err;
}

int predict_batch_count(struct predict_batch *p, const char *path, struct finding_set *set, bool pairs)
{
	RD_ASSERT(path && set);
	struct predict_trace t = {0};
	struct predict_result none = {0};
	struct model_file in;
	int err = model_open(&in, path, p->force);

	if (!err)
		err = predict_fill(&t, in.model);
	p->reading_seconds = (double)clock() / CLOCKS_PER_SEC;
	if (!err)
		err = count_trace(p, &t, set, pairs);
	if (!err) {
		pass_sum_up_model(p, in.model);
		pass_sum_up(p, &t, &none);
		set->tool = RADDLE_VERSION;
		pass_set_arguments(set, trace_get_meta(in.trace));
		finding_stat(set, "reading_cpu_seconds", p->reading_seconds);
		err = in.model->err;
	}
	predict_trace_release(&t);
	model_close(&in);
	return err;
}

void predict_batch_stats(const struct predict_batch *p, struct finding_set *set)
{
	finding_stat(set, "events", (double)p->events);
	finding_stat(set, "considered", (double)p->considered);
	finding_stat(set, "searched", (double)p->searched);
	finding_stat(set, "dropped", (double)p->dropped);
	finding_stat(set, "unknown", (double)p->unknown);
	finding_stat(set, "late", p->late);
	if (p->parts) {
		finding_stat(set, "parts", (double)p->parts);
		finding_stat(set, "parts_skipped", (double)p->skipped);
	}
}

bool predict_batch_hang(const char *trace, const struct predict_sleepers *sleepers, FILE *out)
{
	struct finding_set *set = finding_set_new();
	struct model_file f;
	bool hangs = model_open(&f, trace, false) == RD_OK && predict_hang(f.model, sleepers, set) &&
		     finding_write(set, out) == RD_OK;

	model_close(&f);
	finding_set_free(set);
	return hangs;
}
