// SPDX-License-Identifier: Apache-2.0
/*
 * raddle sketch: explains why a program fails.
 *
 * The program's output is captured, not shown.  The sketches go to standard output or to files that
 * the user named.
 */
#include "cmd/cmd-int.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/option.h"
#include "base/progress.h"
#include "bitcode/facts.h"
#include "cmd/led-int.h"
#include "cmd/output-int.h"
#include "report/diagnosis.h"
#include "report/sketch.h"
#include "run/orphan.h"
#include "sketch/schedules.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIRECTORY "raddle-sketch"

static const struct cmd_usage usage = {
	"raddle sketch [--json[=FILE]] [--html FILE] [--] PROG ARGS...",
	"Runs a program built by 'raddle cc' until it has failed a few times, compares these runs\n"
	"with runs that pass, and shows why it fails: the steps that lead to the failure, thread by\n"
	"thread, with values, and predictors that distinguish failing from passing runs: an order\n"
	"of accesses, a value, a branch.  The best orders are then forced and prevented, to see\n"
	"whether they are the cause.  A run fails if it crashes, hangs, ends with a status other\n"
	"than 0, or if --fail-if decides so.  The exit status is 1 if a failure was explained, 0 if\n"
	"no run failed.",
	"output json sarif html perfetto sketch_runs sketch_time fail_if failure_report "
	"sketch_tries " CMD_BESIDE "plugins " CMD_WORDS,
	"  raddle cc -g -pthread -o bank bank.c\n"
	"  raddle sketch -- ./bank 4\n"
	"  raddle sketch --fail-if 'grep -q -v ^ok' --html why.html -- ./bank 4\n",
	false,
};

struct task {
	struct cmd_led led;
	struct sketch_failure report;
	struct facts *facts; /* the facts of the program; NULL if there are none */
	struct diagnosis diagnosis;
	struct rd_progress bar;
	char **argv;
};

static void show(void *context, const struct diagnose_progress *p)
{
	struct task *t = context;
	char text[120];

	snprintf(text, sizeof text, "%zu failing; %s", p->failing, p->doing);
	rd_progress_update(&t->bar, p->runs, text);
}

static int diagnose(struct task *t)
{
	struct diagnose how = {.runs = cmd_led_runs(&t->led),
			       .facts = t->facts,
			       .fail_if = opt.fail_if,
			       .report = t->report.kind ? &t->report : NULL,
			       .most = opt.sketch_runs,
			       .time_ns = rd_ms_to_ns(opt.sketch_time),
			       .tries = (unsigned)opt.sketch_tries,
			       .no_intervention = !opt.sketch_tries,
			       .progress = show,
			       .context = t};
	int err;

	cmd_progress_start(&t->bar, "runs", 0);
	err = diagnose_run(&how, &t->diagnosis);
	rd_progress_end(&t->bar);
	t->diagnosis.set.program = t->argv[0];
	return err;
}

/* ---- documents ---- */

#define WRITER(name)                                                                                         \
	static int write_##name(const void *what, FILE *out)                                                 \
	{                                                                                                    \
		return sketch_##name(what, out);                                                             \
	}
WRITER(json)
WRITER(sarif)
WRITER(html)
WRITER(perfetto)

static int report(struct task *t)
{
	RD_ASSERT(t->diagnosis.set.program);
	struct sketch_report r = {.set = &t->diagnosis.set, .all = opt.verbose};
	int err = sketch_write_schedules(&t->diagnosis.set, opt.output ? opt.output : DIRECTORY);

	if (!err)
		err = cmd_document(opt.json, write_json, &r);
	if (!err)
		err = cmd_document(opt.sarif, write_sarif, &r);
	if (!err)
		err = cmd_document(opt.html, write_html, &r);
	if (!err)
		err = cmd_document(opt.perfetto, write_perfetto, &r);
	if (!err && !opt.quiet && !cmd_output_is_stdout()) {
		err = sketch_text(&r, stdout);
		report_diagnosis_text(&t->diagnosis, t->report.kind ? &t->report : NULL, stdout);
	}
	return err;
}

/* Determines the exit status.  If no run could be judged, "no failure" would be wrong. */
static int judge(const struct task *t)
{
	const struct diagnosis *d = &t->diagnosis;

	if (d->interrupted)
		return rd_fail(RD_ESYSTEM, "sketch: interrupted");
	if (!d->set.runs)
		return rd_fail(RD_ESYSTEM, "sketch: no run ended with a usable result: %s",
			       d->why ? d->why : "none was started");
	return RD_OK;
}

int cmd_sketch(int argc, char **argv)
{
	struct task t = {.led = CMD_LED_INIT};
	struct cmd_words words;
	int status = cmd_program(argc, argv, &usage, NULL, &words), err = RD_OK;

	if (status != CMD_GO_ON)
		return status;
	if (!*words.program)
		return cmd_which("sketch", "program");
	t.argv = words.program;
	run_orphans_adopt();
	if (opt.failure_report)
		err = sketch_read_report(&t.report, opt.failure_report, t.argv[0]);
	if (!err)
		err = cmd_led_open(&t.led, "sketch", t.argv, true);
	if (!err)
		err = rd_facts_open(t.argv[0], &t.facts);
	if (!err)
		err = diagnose(&t);
	if (!err)
		err = judge(&t);
	if (!err)
		err = report(&t);
	status = err ? CMD_FAILED : t.diagnosis.set.count ? CMD_FOUND : CMD_OK;
	diagnosis_release(&t.diagnosis);
	sketch_failure_release(&t.report);
	facts_free(t.facts);
	cmd_led_close(&t.led);
	return status;
}
