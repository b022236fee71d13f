// SPDX-License-Identifier: Apache-2.0
/*
 * raddle record: one run of a program, recorded.  Finds the program, has its
 * record flavour made, prepares the trace directory, runs the program under the
 * collector and ends the way the program ended.
 */
#include "cmd/cmd.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/option.h"
#include "bitcode/flavour.h"
#include "record/collector.h"
#include "record/launch.h"
#include "record/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Programs up to this size are worth optimised code the first time. */
#define FAST_SIZE (4 << 20)

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

/* The program. */

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static char *search_path(const char *name)
{
	const char *path = getenv("PATH");

	for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
		size_t length = strcspn(p, ":");
		char *full = rd_xasprintf("%.*s%s%s", (int)length, p, length ? "/" : "./", name);
		if (is_program(full))
			return full;
		free(full);
		p += length;
		p += *p == ':';
	}
	return NULL;
}

static int find_program(const char *name, char **result)
{
	char *found = strchr(name, '/') ? rd_xstrdup(name) : search_path(name);
	struct stat st;

	if (!found)
		return rd_fail(RD_ENOTFOUND, "%s: there is no such program in PATH", name);
	*result = realpath(found, NULL);
	free(found);
	if (!*result || stat(*result, &st))
		return rd_fail_errno("%s: cannot find it", name);
	if (S_ISREG(st.st_mode) && !access(*result, X_OK))
		return 0;
	free(*result);
	*result = NULL;
	return rd_fail(RD_EUSAGE, "%s: %s", name,
		       S_ISREG(st.st_mode) ? "it is not executable" : "it is not a program");
}

static bool wants_fast(const char *program)
{
	struct stat st;

	return opt.fast || (!opt.quick && !stat(program, &st) && st.st_size < FAST_SIZE);
}

static int make_flavour(const char *program, struct rd_flavour *flavour)
{
	struct rd_flavour_opts flavour_opts = {"record", wants_fast(program), opt.verbose};

	if (!opt.as_is)
		return rd_flavour_build(program, &flavour_opts, flavour);
	flavour->executable = rd_xstrdup(program);
	return 0;
}

/* The directory. */

enum directory_state { DIRECTORY_FREE, DIRECTORY_TRACE, DIRECTORY_OTHER };

static enum directory_state look_at(const char *path)
{
	bool empty = true, trace = false;
	struct dirent *entry;
	struct stat st;
	DIR *d;

	if (lstat(path, &st))
		return DIRECTORY_FREE;
	d = opendir(path);
	if (!d)
		return DIRECTORY_OTHER;
	while ((entry = readdir(d))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		empty = false;
		if (!strcmp(entry->d_name, "meta.json") || !strcmp(entry->d_name, "thread-0"))
			trace = true;
	}
	closedir(d);
	return empty ? DIRECTORY_FREE : trace ? DIRECTORY_TRACE : DIRECTORY_OTHER;
}

static int prepare_directory(const char *path)
{
	enum directory_state state = look_at(path);
	char *old;
	int r = 0;

	if (state == DIRECTORY_FREE)
		return 0;
	if (state == DIRECTORY_OTHER)
		return rd_fail(RD_EUSAGE, "%s: it is there and is no trace; name another with -o", path);
	if (opt.force)
		return rd_remove_tree(path);
	old = rd_xasprintf("%.*s.old", (int)(strlen(path) - (path[strlen(path) - 1] == '/')), path);
	if (look_at(old) == DIRECTORY_OTHER)
		r = rd_fail(RD_EUSAGE, "%s: it is in the way of the old trace and is no trace", old);
	if (!r)
		r = rd_remove_tree(old);
	if (!r && rename(path, old))
		r = rd_fail_errno("%s: cannot rename it to %s", path, old);
	free(old);
	return r;
}

/* meta.json */

static void fill_meta(struct trace_meta *meta, const char *program, int argc, char **argv)
{
	struct timespec now;
	struct utsname machine;
	char start[TRACE_TIME_SIZE];

	clock_gettime(CLOCK_REALTIME, &now);
	trace_meta_time(start, now.tv_sec * 1000000000ll + now.tv_nsec);
	meta->start = rd_xstrdup(start);
	clock_gettime(CLOCK_MONOTONIC, &now);
	meta->start_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	meta->program = rd_xstrdup(program);
	meta->argc = (size_t)argc;
	meta->argv = argv;
	meta->cwd = getcwd(NULL, 0);
	if (!uname(&machine))
		meta->kernel = rd_xasprintf("%s %s %s", machine.sysname, machine.release, machine.machine);
	meta->cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
}

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
	struct record_options record = {opt.directory, flavour->sites, meta, opt.limit};
	struct record_launch launch = {flavour->executable, meta->argv, flavour->library_path, -1, NULL};
	struct trace_meta last = {0};
	pid_t pid;
	int r = record_session_open(&session, meta->program);

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
	struct rd_flavour flavour = {0};
	struct trace_meta meta = {0};
	char *program = NULL;
	int r = find_program(argv[0], &program);

	if (!r)
		r = make_flavour(program, &flavour);
	if (!r)
		r = prepare_directory(opt.directory);
	if (!r) {
		fill_meta(&meta, program, argc, argv);
		meta.flavour = rd_xstrdup("record");
		meta.mode = rd_xstrdup(wants_fast(program) ? "fast" : "quick");
		meta.key = flavour.key ? rd_xstrdup(flavour.key) : NULL;
		r = run(&flavour, &meta, status);
		meta.argv = NULL;
		meta.argc = 0;
		trace_meta_release(&meta);
	}
	rd_flavour_release(&flavour);
	free(program);
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
