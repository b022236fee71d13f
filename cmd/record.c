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
#include "cmd/program.h"
#include "record/collector.h"
#include "record/launch.h"
#include "record/prepare.h"
#include "record/session.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	const char *directory;
	const char *json; /* file for the summary, "-": standard output */
	uint64_t limit;
	bool quick, fast;
	bool force;   /* an old trace in the way is removed, not kept */
	bool as_is;   /* the program has the runtime in it already */
	bool verbose; /* say what is done */
} opt;

static const struct rd_option options[] = {
	RD_STRING('o', "output", &opt.directory, "DIR", "where the trace goes (raddle-trace)"),
	RD_NUMBER(0, "limit", &opt.limit, "BYTES", "stop recording at this size; the program goes on"),
	RD_FLAG(0, "fast", &opt.fast, "optimise the recorded program, even if that takes long"),
	RD_FLAG(0, "quick", &opt.quick, "do not optimise it"),
	RD_FLAG('f', "force", &opt.force, "replace an old trace instead of keeping it as DIR.old"),
	RD_STRING(0, "json", &opt.json, "FILE", "write a summary there (-: standard output)"),
	RD_FLAG(0, "as-is", &opt.as_is, "PROG is a flavour already: run it without making one"),
	RD_FLAG('v', "verbose", &opt.verbose, "say what is done"),
	RD_END,
};

static const struct rd_usage usage = {
	"raddle record [-o DIR] [--] PROG ARGS...",
	"Runs a program that 'raddle cc' built and records what its threads do: accesses to\n"
	"shared memory, synchronisation, allocation, call stacks.  The program's input,\n"
	"output, signals and exit status are as without Raddle.  A trace that is in the\n"
	"way is kept as DIR.old.",
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
	rd_json_number(&j, "version", 1);
	rd_json_string(&j, "trace", opt.directory);
	rd_json_string(&j, "program", meta->program);
	write_status(&j, meta);
	rd_json_bool(&j, "complete", meta->complete);
	rd_json_string(&j, "stopped", meta->stopped);
	rd_json_unsigned(&j, "threads", meta->threads);
	rd_json_unsigned(&j, "events", meta->events);
	rd_json_unsigned(&j, "bytes", meta->bytes);
	rd_json_double(&j, "seconds", (double)(meta->end_ns - meta->start_ns) / 1e9);
	rd_json_end(&j);
	failed = fputc('\n', out) == EOF || fflush(out);
	if (out != stdout)
		failed |= fclose(out) != 0;
	return failed ? rd_fail_errno("%s: cannot write it", opt.json) : 0;
}

/* The last words: the warning always, the line for people on a terminal. */
static void say_end(const struct trace_meta *meta)
{
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

/* Forked processes that outlive the program are followed by a copy of us in the
 * background, which holds none of our streams.  The traces are the copy's then. */
static bool follow_rest(struct record_collector *c)
{
	int null;

	if (!record_collector_alive(c))
		return false;
	if (fork() != 0)
		return true;
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd <= 2 && null >= 0; fd++)
		dup2(null, fd);
	record_collector_rest(c);
	record_collector_close(c);
	_exit(0);
}

static int run(const struct rd_flavour *flavour, struct trace_meta *meta, int *status)
{
	struct record_session session;
	struct record_collector *collector = NULL;
	struct record_options record = {
		.directory = opt.directory, .sites = flavour->sites, .meta = meta, .limit = opt.limit};
	struct record_launch launch = {
		.executable = flavour->executable, .argv = meta->argv, .library_path = flavour->library_path};
	struct trace_meta last = {0};
	pid_t pid;
	int r = record_session_open(&session, meta->program, 0);

	if (r)
		return r;
	launch.session_fd = session.fd;
	launch.wake = &session.shared->sealed_futex;
	r = record_collector_open(&collector, &session, &record);
	if (!r)
		r = record_launch(&launch, &pid);
	if (!r)
		r = record_collector_run(collector, pid, status, &last);
	if (!r) {
		record_launch_done();
		say_end(&last);
		if (follow_rest(collector))
			return 0;
	}
	if (collector)
		record_collector_close(collector);
	record_session_close(&session);
	return r;
}

static int record(int argc, char **argv, int *status)
{
	struct cmd_build how = {opt.fast, opt.quick, opt.as_is, opt.verbose};
	struct cmd_program program = {0};
	struct trace_meta meta = {0};
	int r = cmd_program_open(&program, argv[0], &how);

	if (!r)
		r = record_prepare_directory(opt.directory, opt.force);
	if (!r) {
		record_prepare_meta(&meta, program.path, argc, argv);
		meta.mode = rd_xstrdup(program.mode);
		meta.key = program.flavour.key ? rd_xstrdup(program.flavour.key) : NULL;
		r = run(&program.flavour, &meta, status);
		record_release_meta(&meta);
	}
	cmd_program_close(&program);
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
	if (!opt.directory)
		opt.directory = "raddle-trace";
	if (opt.verbose)
		rd_log_level(RD_LOG_INFO);
	if (record(argc - first, argv + first, &status))
		return CMD_FAILED;
	fflush(NULL);
	return record_exit_like(status);
}
