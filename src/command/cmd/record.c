// SPDX-License-Identifier: Apache-2.0
/*
 * raddle record: records one run of a program.  Finds the program, builds its flavour, prepares the
 * trace directory, runs the program under the collector, and exits as the program did.
 */
#include "cmd/cmd-int.h"

#include "base/error.h"
#include "cmd/output-int.h"
#include "check/hang.h"
#include "record/prepare.h"
#include "record/run.h"
#include "record/summary.h"
#include "report/report.h"
#include "run/launch.h"
#include "run/program.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIRECTORY "raddle-trace"

static const struct cmd_usage usage = {
	"raddle record [-o DIR] [--] PROG ARGS...",
	"Runs a program built by 'raddle cc' and records what its threads do: accesses to\n"
	"shared memory, synchronisation, allocation, call stacks.  Input, output, signals and\n"
	"the exit status work as without Raddle.  A deadlock is reported, and the program is\n"
	"killed.  The trace is in " DIRECTORY " unless --output names another directory; an\n"
	"existing trace is renamed to DIR.old.",
	"output flavour fault limit_bytes " CMD_BUILD
	"as_is force_old no_watchdog no_world all_accesses json verbose",
	"  raddle cc -g -pthread -o bank bank.c\n"
	"  raddle record -o trace -- ./bank 4\n"
	"  raddle dump trace\n",
	false,
};

static int write_summary(const void *what, FILE *out)
{
	return record_summary_json(what, opt.output, out);
}

/* Prints the warning in any case, but the summary only to a terminal or if --verbose is given. */
static void report_end(const struct trace_meta *meta)
{
	RD_ASSERT(opt.output);
	if (meta->stopped)
		rd_warn("recording stopped before the program ended: %s", meta->stopped);
	if (opt.verbose || isatty(STDERR_FILENO))
		record_summary_text(meta, opt.output, stderr);
	cmd_document(opt.json, write_summary, meta);
}

/* Reports a deadlock.  Raddle killed the program, but this returns the status of a normal exit,
 * because the caller should not conclude that a signal killed Raddle. */
static int report_deadlock(const struct finding_set *deadlock)
{
	struct report_opts how = {.colour = report_wants_colour(stderr), .others = true};

	report_text(deadlock, &how, stderr);
	fprintf(stderr, "raddle: the program was deadlocked and was killed\n");
	return (128 + SIGKILL) << 8;
}

static int parse_faults(struct record_run *run)
{
	if (opt.fault && !run_program_has_values(opt.flavour))
		return rd_fail(RD_EUSAGE, "record: --fault needs --flavour full");
	return opt.fault ? run_faults_parse(opt.fault, &run->faults, &run->fault_count) : RD_OK;
}

static int record(char **argv, int *status)
{
	struct run_build how = {.fast = opt.fast,
				.quick = opt.quick,
				.as_is = opt.as_is,
				.verbose = opt.verbose,
				.plugins = opt.plugins};
	struct run_program program = {.kind = opt.flavour};
	struct record_run run = {.program = &program,
				 .argv = argv,
				 .limit = opt.limit_bytes,
				 .no_world = opt.no_world,
				 .all_accesses = opt.all_accesses,
				 .stands = opt.no_watchdog ? NULL : check_hang};
	struct record_result result = {0};
	struct finding_set *deadlock = NULL;
	struct rd_claim claim = {0};
	int r = parse_faults(&run);

	if (!r)
		r = run_program_open(&program, argv[0], &how);
	if (!r)
		r = record_claim_directory(&claim, opt.output ? opt.output : DIRECTORY, opt.force_old,
					   !opt.output);
	run.directory = opt.output = claim.path;
	if (!r)
		r = record_run(&run, &result);
	if (result.ended_ns)
		report_end(&result.meta);
	*status = result.end.status;
	if (!r && *status)
		r = record_judge_room(argv[0], result.meta.events);
	if (!r)
		r = check_hang_read(&result, &deadlock);
	if (!r && deadlock)
		*status = report_deadlock(deadlock);
	if (!r && opt.verbose)
		record_faults_text(run.faults, run.fault_count, stderr);
	free(run.faults);
	rd_claim_release(&claim);
	finding_set_free(deadlock);
	record_result_release(&result);
	run_program_close(&program);
	return r;
}

int cmd_record(int argc, char **argv)
{
	struct cmd_words words;
	int status = cmd_program(argc, argv, &usage, NULL, &words), ended = 0;

	if (status != CMD_GO_ON)
		return status;
	if (!*words.program)
		return cmd_which("record", "program");
	if (record(words.program, &ended))
		return CMD_FAILED;
	fflush(NULL);
	return run_exit_like(ended);
}
