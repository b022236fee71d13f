// SPDX-License-Identifier: Apache-2.0
/*
 * raddle record: one run of a program, recorded.  Finds the program, has its
 * record flavour made, prepares the trace directory, runs the program under the
 * collector and ends the way the program ended.
 */
#include "cmd/cmd.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/option.h"
#include "cmd/standing.h"
#include "record/prepare.h"
#include "record/run.h"
#include "report/report.h"
#include "run/launch.h"
#include "run/program.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIRECTORY "raddle-trace"

static struct {
	const char *directory;
	const char *flavour;
	const char *faults; /* separated by commas */
	const char *json;   /* file for the summary, "-": standard output */
	uint64_t limit;
	const char *plugins;
	bool quick, fast;
	bool force; /* an old trace in the way is removed, not kept */
	bool no_watchdog;
	bool as_is;   /* the program has the runtime in it already */
	bool verbose; /* say what is done */
} opt;

static const struct rd_option options[] = {
	RD_STRING('o', "output", &opt.directory, "DIR", "write the trace to DIR (" DIRECTORY ")"),
	RD_STRING(0, "flavour", &opt.flavour, "NAME", "what to record: record (the default) or full"),
	RD_STRING(0, "fault", &opt.faults, "FAULT,...", "full: change values in the run, see full.md"),
	RD_NUMBER(0, "limit", &opt.limit, "BYTES", "stop recording at this size; the program continues"),
	RD_STRING(0, "plugins", &opt.plugins, "PATHS",
		  "plug-ins that the program loads by dlopen(), separated by colons"),
	RD_FLAG(0, "fast", &opt.fast, "optimise the recorded program, even if that takes long"),
	RD_FLAG(0, "quick", &opt.quick, "do not optimise it"),
	RD_FLAG('f', "force", &opt.force, "replace an old trace instead of keeping it as DIR.old"),
	RD_FLAG(0, "no-watchdog", &opt.no_watchdog, "do not end a deadlocked program"),
	RD_STRING(0, "json", &opt.json, "FILE", "write a summary to FILE (-: standard output)"),
	RD_FLAG(0, "as-is", &opt.as_is, "PROG is a flavour already; run it as it is"),
	RD_FLAG('v', "verbose", &opt.verbose, "report progress"),
	RD_END,
};

static const struct rd_usage usage = {
	"raddle record [-o DIR] [--] PROG ARGS...",
	"Runs a program built by 'raddle cc' and records what its threads do: accesses to\n"
	"shared memory, synchronisation, allocation, call stacks.  Input, output, signals and\n"
	"the exit status work as without Raddle.  A deadlock is reported, and the program is\n"
	"killed.  An existing trace is renamed to DIR.old.",
	options,
	"  raddle cc -g -pthread -o bank bank.c\n"
	"  raddle record -o trace -- ./bank 4\n"
	"  raddle dump trace\n",
};

/* The end. */

static void write_status(struct rd_json *j, const struct trace_meta *meta)
{
	rd_json_object(j, "status");
	if (meta->end == TRACE_SIGNALLED) {
		rd_json_number(j, "signal", meta->code);
		rd_json_bool(j, "core", meta->core);
	} else {
		rd_json_number(j, "exit", meta->code);
	}
	rd_json_end(j);
}

static int write_summary(const struct trace_meta *meta)
{
	FILE *out = strcmp(opt.json, "-") ? fopen(opt.json, "w") : stdout;
	struct rd_json j = {0};
	bool failed;

	if (!out)
		return rd_fail_errno("%s: cannot write it", opt.json);
	rd_json_begin(&j, out);
	rd_json_object(&j, NULL);
	RD_JSON(&j, RD_JN("version", 1), RD_JS("trace", opt.directory), RD_JS("program", meta->program));
	write_status(&j, meta);
	RD_JSON(&j, RD_JB("complete", meta->complete), RD_JS("stopped", meta->stopped),
		RD_JU("threads", meta->threads), RD_JU("events", meta->events), RD_JU("bytes", meta->bytes),
		RD_JD("seconds", (double)(meta->end_ns - meta->start_ns) / 1e9));
	rd_json_end(&j);
	failed = fputc('\n', out) == EOF || fflush(out);
	if (out != stdout)
		failed |= fclose(out) != 0;
	return failed ? rd_fail_errno("%s: cannot write it", opt.json) : 0;
}

/* The last words: the warning always, the line for people on a terminal. */
static void say_end(void *context, const struct trace_meta *meta)
{
	(void)context;
	if (meta->stopped)
		rd_warn("recording stopped before the program ended: %s", meta->stopped);
	if (opt.verbose || isatty(STDERR_FILENO))
		fprintf(stderr,
			"raddle: recorded %" PRIu64 " events of %" PRIu64 " threads into %s (%" PRIu64
			" bytes)\n",
			meta->events, meta->threads, opt.directory, meta->bytes);
	if (opt.json)
		write_summary(meta);
}

/* Returns a status of a normal end: that the program was killed is our doing, and nobody
 * should look for who killed us. */
static int say_standing(const struct finding_set *standing)
{
	struct report_opts how = {.colour = report_wants_colour(stderr)};

	report_text(standing, &how, stderr);
	fprintf(stderr, "raddle: the program was deadlocked and was killed\n");
	return (128 + SIGKILL) << 8;
}

static int parse_faults(struct record_run *run)
{
	size_t capacity = 0;
	int r = 0;

	if (opt.faults && !run_program_has_values(opt.flavour))
		return rd_fail(RD_EUSAGE, "record: --fault needs --flavour full");
	for (const char *at = opt.faults; at && *at && !r;) {
		size_t n = strcspn(at, ",");
		char *one = rd_xstrndup(at, n);
		RD_GROW(run->faults, capacity, run->fault_count + 1);
		r = run_fault_parse(&run->faults[run->fault_count++], one);
		free(one);
		at += at[n] ? n + 1 : n;
	}
	return r;
}

static void say_faults(const struct record_run *run)
{
	for (size_t i = 0; i < run->fault_count; i++) {
		const struct run_fault *f = &run->faults[i];
		if (f->fired)
			fprintf(stderr,
				"raddle: fault %zu changed %" PRIu64 " values, the first from 0x%" PRIx64
				" to 0x%" PRIx64 "\n",
				i, f->fired, f->before, f->after);
		else
			fprintf(stderr,
				"raddle: fault %zu did not happen: its site was executed %" PRIu64 " times\n",
				i, f->seen);
	}
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
				 .limit = opt.limit,
				 .stands = opt.no_watchdog ? NULL : cmd_standing,
				 .ended = say_end};
	struct record_result result = {0};
	struct finding_set *standing = NULL;
	struct rd_claim claim = {0};
	int r = parse_faults(&run);

	if (!r)
		r = run_program_open(&program, argv[0], &how);
	if (!r)
		r = record_claim_directory(&claim, opt.directory ? opt.directory : DIRECTORY, opt.force,
					   !opt.directory);
	run.directory = opt.directory = claim.path;
	if (!r)
		r = record_run(&run, &result);
	*status = result.end.status;
	if (!r)
		r = cmd_standing_read(&result, &standing);
	if (!r && standing)
		*status = say_standing(standing);
	if (!r && opt.verbose)
		say_faults(&run);
	free(run.faults);
	rd_claim_release(&claim);
	finding_set_free(standing);
	record_result_release(&result);
	run_program_close(&program);
	return r;
}

int cmd_record(int argc, char **argv)
{
	int status = 0;
	int first = rd_options_parse(argc, argv, &usage);

	if (first <= 0)
		return first == RD_OPTION_HELP ? CMD_OK : CMD_FAILED;
	if (first == argc) {
		rd_fail(RD_EUSAGE, "record: which program? 'raddle help record' shows the usage");
		return CMD_FAILED;
	}
	if (opt.verbose)
		rd_log_level(RD_LOG_INFO);
	if (record(argv + first, &status))
		return CMD_FAILED;
	fflush(NULL);
	return run_exit_like(status);
}
