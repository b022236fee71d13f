// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle predict`: the races and deadlocks that other schedules of a recorded run
 * lead to.  Nothing is run again, so nothing is confirmed: the exit status tells
 * only whether the prediction could be made.
 */
#include "cmd/cmd.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/option.h"
#include "finding/schedule.h"
#include "predict/describe.h"
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct {
	bool json, sound_only, no_races, no_deadlocks, force;
	const char *schedules;
	uint64_t window, limit, work;
} opt = {.limit = 200, .work = 200};

static const struct rd_option options[] = {
	RD_FLAG('j', "json", &opt.json, "as a JSON document"),
	RD_STRING('o', "schedules", &opt.schedules, "DIR", "write a schedule file for each finding"),
	RD_FLAG(0, "sound-only", &opt.sound_only, "only what can happen for certain"),
	RD_FLAG(0, "no-races", &opt.no_races, "do not look for races"),
	RD_FLAG(0, "no-deadlocks", &opt.no_deadlocks, "do not look for deadlocks"),
	RD_NUMBER('n', "limit", &opt.limit, "COUNT", "describe at most that many findings (200)"),
	RD_NUMBER('w', "window", &opt.window, "EVENTS", "in pieces of that many events; 0: as a whole"),
	RD_NUMBER(0, "work", &opt.work, "MILLIONS", "search steps until the rest is left undecided (200)"),
	RD_FLAG('f', "force", &opt.force, "without meta.json or site table, if need be"),
	RD_END,
};

static const struct rd_usage usage = {
	"raddle predict [--json] [--schedules DIR] [--sound-only] TRACE",
	"Finds the races and deadlocks that other schedules of a recorded run lead to, each\n"
	"with the order of operations that leads there. Sound findings keep the value of\n"
	"every read and so can happen; the others are speculative. None is confirmed, since\n"
	"nothing is run; the exit status is 0 whatever was found.",
	options,
	"  raddle record -o trace -- ./prog\n"
	"  raddle predict trace\n"
	"  raddle predict --json --schedules found trace >found.json\n",
};

static int write_schedules(struct finding_set *set)
{
	if (mkdir(opt.schedules, 0777) != 0 && errno != EEXIST)
		return rd_fail_errno("predict: %s", opt.schedules);
	for (size_t i = 0; i < set->count; i++) {
		struct finding *f = set->items[i];
		if (!f->schedule)
			continue;
		f->schedule->finding = schedule_text(f->schedule, f->id);
		f->schedule_path = finding_textf(set, "%s/%s.schedule", opt.schedules, f->id);
		int err = schedule_write(f->schedule, f->schedule_path);
		if (err)
			return err;
	}
	return RD_OK;
}

static void add_stats(struct finding_set *set, const struct predict_trace *t, const struct predict_result *r)
{
	finding_stat(set, "events", (double)t->model->events);
	finding_stat(set, "considered", (double)t->x.count);
	finding_stat(set, "searched", (double)r->kept);
	finding_stat(set, "dropped", (double)t->dropped);
	finding_stat(set, "unknown", (double)(r->stats[0].unknown + r->stats[1].unknown));
}

static int report(struct finding_set *set, const struct predict_result *r, size_t left_out)
{
	struct report_opts how = {.colour = report_wants_colour(stdout), .all = true};
	uint64_t unknown = r->stats[0].unknown + r->stats[1].unknown;
	int err;

	if (opt.json)
		return finding_write(set, stdout);
	err = report_text(set, &how, stdout);
	if (left_out)
		printf("%zu more are not described; --limit raises the number.\n", left_out);
	if (unknown)
		printf("%" PRIu64 " candidates are undecided; --work raises the effort.\n", unknown);
	return err;
}

static int describe(const struct predict_trace *t, const struct predict_result *r)
{
	const struct trace_meta *meta = trace_get_meta(t->model->trace);
	struct finding_set *set = finding_set_new();
	size_t left_out = predict_describe(t, r, set, opt.limit);
	int err = RD_OK;

	set->tool = RADDLE_VERSION;
	set->argv = finding_array(set, meta->argc, sizeof *set->argv);
	for (set->argc = 0; set->argc < meta->argc; set->argc++)
		set->argv[set->argc] = finding_text(set, meta->argv[set->argc]);
	finding_set_finish(set);
	add_stats(set, t, r);
	if (opt.schedules)
		err = write_schedules(set);
	if (!err)
		err = report(set, r, left_out);
	finding_set_free(set);
	return err;
}

static int predict_model(const struct model *model)
{
	struct predict_opts o = {.sound_only = opt.sound_only,
				 .no_races = opt.no_races,
				 .no_deadlocks = opt.no_deadlocks,
				 .window = (uint32_t)opt.window};
	struct predict_result r = {0};
	struct predict_trace t;
	int err = predict_fill(&t, model);

	o.total_work = (int64_t)opt.work * 1000000;
	o.work = o.total_work / 20;
	if (!err)
		err = predict_run(&t.x, &o, &r);
	if (!err && t.dropped)
		rd_warn("predict: %" PRIu64 " events contradict what synchronisation allows and are left out",
			t.dropped);
	if (!err)
		err = describe(&t, &r);
	predict_result_release(&r);
	predict_trace_release(&t);
	return err;
}

static int predict_path(const char *path)
{
	struct trace *trace = NULL;
	struct model *model = NULL;
	int err = trace_open(&trace, path, opt.force);

	if (!err)
		err = model_build(&model, trace, MODEL_HISTORIES);
	if (!err)
		err = predict_model(model);
	if (!err)
		err = model->err; /* what could be read was looked at */
	model_free(model);
	trace_close(trace);
	return err ? CMD_FAILED : CMD_OK;
}

int cmd_predict(int argc, char **argv)
{
	const char *path;
	int status = cmd_operand(argc, argv, &usage, &path);

	if (status >= 0)
		return status;
	if (!path) {
		rd_fail(RD_EUSAGE, "predict: needs one trace");
		return CMD_FAILED;
	}
	if (opt.window > UINT32_MAX || opt.work == 0 || opt.work > 1000000000) {
		rd_fail(RD_EUSAGE, "predict: --window or --work is out of range");
		return CMD_FAILED;
	}
	return predict_path(path);
}
