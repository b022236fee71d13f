// SPDX-License-Identifier: Apache-2.0
/*
 * Prediction as commands need it: a trace directory comes in, findings with schedules go into
 * a set, numbers are summed up.  Several traces may go into one set.
 */
#include "cmd/prediction.h"

#include "base/error.h"
#include "base/file.h"
#include "finding/schedule.h"
#include "predict/describe.h"

#include <inttypes.h>

int cmd_prediction_check(const struct cmd_prediction *p, const char *name)
{
	if (p->window > UINT32_MAX || p->work == 0 || p->work > 1000000000)
		return rd_fail(RD_EUSAGE, "%s: --window or --work is out of range", name);
	return RD_OK;
}

static void set_arguments(struct finding_set *set, const struct trace_meta *meta)
{
	set->tool = RADDLE_VERSION;
	if (set->argc)
		return;
	set->argv = finding_array(set, meta->argc, sizeof *set->argv);
	for (; set->argc < meta->argc; set->argc++)
		set->argv[set->argc] = finding_text(set, meta->argv[set->argc]);
}

static void sum_up(struct cmd_prediction *p, const struct predict_trace *t, const struct predict_result *r)
{
	p->events += t->model->events;
	p->considered += t->x.count;
	p->searched += r->kept;
	p->dropped += t->dropped;
	p->unknown += r->stats[0].unknown + r->stats[1].unknown;
	if (t->model->thread_count > p->threads)
		p->threads = t->model->thread_count;
}

static int predict_model(struct cmd_prediction *p, const struct model *model, struct finding_set *set)
{
	struct predict_opts o = {.sound_only = p->sound_only,
				 .no_races = p->no_races,
				 .no_deadlocks = p->no_deadlocks,
				 .window = (uint32_t)p->window,
				 .total_work = (int64_t)p->work * 1000000,
				 .work = (int64_t)p->work * 1000000 / 20};
	struct predict_result r = {0};
	struct predict_trace t;
	int err = predict_fill(&t, model);

	if (!err)
		err = predict_run(&t.x, &o, &r);
	if (!err && t.dropped)
		rd_warn("predict: %" PRIu64 " events contradict what synchronisation allows and are left out",
			t.dropped);
	if (!err) {
		sum_up(p, &t, &r);
		p->left_out += predict_describe(&t, &r, set, p->limit);
		set_arguments(set, trace_get_meta(model->trace));
	}
	predict_result_release(&r);
	predict_trace_release(&t);
	return err;
}

int cmd_prediction_run(struct cmd_prediction *p, const char *path, struct finding_set *set)
{
	struct trace *trace = NULL;
	struct model *model = NULL;
	int err = trace_open(&trace, path, p->force);

	if (!err)
		err = model_build(&model, trace, MODEL_HISTORIES);
	if (!err)
		err = predict_model(p, model, set);
	if (!err)
		err = model->err; /* what could be read was looked at */
	model_free(model);
	trace_close(trace);
	return err;
}

void cmd_prediction_stats(const struct cmd_prediction *p, struct finding_set *set)
{
	finding_stat(set, "events", (double)p->events);
	finding_stat(set, "considered", (double)p->considered);
	finding_stat(set, "searched", (double)p->searched);
	finding_stat(set, "dropped", (double)p->dropped);
	finding_stat(set, "unknown", (double)p->unknown);
}

int cmd_write_schedules(struct finding_set *set, const char *directory)
{
	int err = rd_mkdirs(directory);

	for (size_t i = 0; i < set->count && !err; i++) {
		struct finding *f = set->items[i];
		if (!f->schedule || f->status == FINDING_DROPPED)
			continue;
		f->schedule_path = finding_textf(set, "%s/%s.schedule", directory, f->id);
		err = schedule_write(f->schedule, f->schedule_path);
	}
	return err;
}
