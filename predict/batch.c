// SPDX-License-Identifier: Apache-2.0
/*
 * Prediction as a whole: a trace comes in, findings with schedules go into a set, numbers are summed up.
 * Several traces may go into one set.
 */
#include "predict/batch.h"

#include "base/clock.h"
#include "base/error.h"
#include "model/open.h"
#include "predict/describe.h"
#include "predict/failure.h"

#include <inttypes.h>
#include <signal.h>
#include <time.h>

#define DESCRIBE_SHARE 5
#define LESS_WORK 10 /* a part of what the first prediction may take: there may be many of these */

static void set_arguments(struct finding_set *set, const struct trace_meta *meta)
{
	set->tool = RADDLE_VERSION;
	if (set->argc)
		return;
	set->argv = finding_array(set, meta->argc, sizeof *set->argv);
	for (; set->argc < meta->argc; set->argc++)
		set->argv[set->argc] = finding_text(set, meta->argv[set->argc]);
}

static void sum_up(struct predict_batch *p, const struct predict_trace *t, const struct predict_result *r)
{
	p->events += t->model->events;
	p->considered += t->x.count;
	p->searched += r->kept;
	p->dropped += t->dropped;
	if (t->dropped)
		rd_warn("predict: %" PRIu64 " events contradict what synchronisation allows and are left out",
			t->dropped);
	p->unknown += r->stats[0].unknown + r->stats[1].unknown;
	p->late |= r->late;
	if (t->model->thread_count > p->threads)
		p->threads = t->model->thread_count;
}

/* A part of the time is kept for describing what was found. */
static int64_t search_deadline(int64_t deadline_ns)
{
	int64_t now = rd_now_ns(), left = deadline_ns > now ? deadline_ns - now : 0;

	return deadline_ns ? now + left - left / DESCRIBE_SHARE : 0;
}

static int predict_model(struct predict_batch *p, const struct model *model, struct finding_set *set)
{
	struct predict_opts o = {.sound_only = p->sound_only || p->sync_preserving,
				 .recorded_order_only = p->sync_preserving,
				 .no_races = p->no_races,
				 .no_deadlocks = p->no_deadlocks,
				 .window = (uint32_t)p->window,
				 .total_work = (int64_t)p->work * 1000000,
				 .work = (int64_t)p->work * 1000000 / 20,
				 .deadline_ns = search_deadline(p->deadline_ns)};
	struct predict_result r = {0};
	struct predict_trace t;
	int err = predict_fill(&t, model);

	if (!err)
		err = predict_run(&t.x, &o, &r);
	if (!err) {
		sum_up(p, &t, &r);
		p->left_out +=
			predict_describe(&t, &r, set, (struct predict_limit){p->limit, p->deadline_ns});
		p->late |= p->deadline_ns && rd_now_ns() >= p->deadline_ns;
		set_arguments(set, trace_get_meta(model->trace));
	}
	predict_result_release(&r);
	predict_trace_release(&t);
	return err;
}

/* The signal by which the run failed; 0: none. */
static int failure_of(const struct model *model)
{
	const struct trace_meta *meta = trace_get_meta(model->trace);

	if (meta->end == TRACE_SIGNALLED && predict_is_failure(meta->code))
		return meta->code;
	return meta->forked && predict_has_aborted(model) ? SIGABRT : 0;
}

static void look_at_end(struct predict_batch *p, const struct model *model, struct finding_set *set)
{
	int signal = failure_of(model);

	if (p->failures && (signal || p->ended))
		p->at_start += !predict_failure(model, signal, set);
}

int predict_batch_run(struct predict_batch *p, const char *path, struct finding_set *set)
{
	struct model_file in;
	int err = model_open(&in, path, p->force);

	if (!err)
		err = predict_model(p, in.model, set);
	if (!err)
		look_at_end(p, in.model, set);
	for (size_t i = 0; !err && i < in.model->module_count; i++)
		rd_argv_add(&p->modules, in.model->modules[i].path);
	if (!err)
		err = in.model->err; /* what could be read was looked at */
	model_close(&in);
	return err;
}

int predict_batch_again(void *context, const char *path, struct finding_set *set)
{
	struct predict_batch less = *(const struct predict_batch *)context;
	int err;

	less.work = (less.work + LESS_WORK - 1) / LESS_WORK;
	less.failures = false;
	less.modules = (struct rd_argv)RD_ARGV_INIT;
	err = predict_batch_run(&less, path, set);
	rd_argv_release(&less.modules);
	if (!err)
		finding_set_finish(set);
	return err;
}

/* ---- numbers ---- */

unsigned predict_batch_models(const struct predict_batch *p)
{
	return p->sync_preserving ? PREDICT_COUNT_SYNC_PRESERVING + 1
	       : p->sound_only	  ? PREDICT_COUNT_SOUND + 1
				  : PREDICT_COUNT_MODELS;
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

	for (unsigned i = 0; i < predict_batch_models(p) && !err; i++) {
		err = predict_count(t, i, &o, &p->counts[i]);
		put_stats(set, predict_count_name(i), &p->counts[i], pairs);
		p->unknown += p->counts[i].unknown;
	}
	return err;
}

int predict_batch_count(struct predict_batch *p, const char *path, struct finding_set *set, bool pairs)
{
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
		sum_up(p, &t, &none);
		set_arguments(set, trace_get_meta(in.trace));
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
}
