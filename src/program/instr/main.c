/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raddle-instr is the LLVM worker of Raddle.  The code in bitcode/ writes a list of units and runs
 * this program.  Users do not run it.
 *
 *	raddle-instr --flavour NAME --mode quick|fast --hooks HOOK.bc --jobs N JOBFILE
 *	raddle-instr --facts FILE --program NAME JOBFILE
 *
 * job-int.h describes JOBFILE.
 *
 * The program loads LLVM once, and then forks workers (base/pool.h), which process the units, the
 * largest first.  --facts needs all units in one module, so it uses no workers.  On some inputs
 * LLVM aborts.  The worker then dies, its unit is reported as failed, and a new worker takes its
 * place.
 */
#include "base/alloc.h"
#include "base/edit.h"
#include "base/error.h"
#include "base/file.h"
#include "base/option.h"
#include "base/pool.h"
#include "instr/guard/guards.h"
#include "instr/unit-int.h"

#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* The data that all workers share. */
struct task {
	const struct instr_jobs *jobs;
	const struct instr_options *options;
};

static int larger_first(const void *a, const void *b)
{
	const struct instr_job *x = a, *y = b;
	if (x->length != y->length)
		return x->length > y->length ? -1 : 1;
	return strcmp(x->object, y->object);
}

/* Called before LLVM aborts; its text is the only message that the user gets. */
static void fatal(const char *reason)
{
	rd_fail(RD_ETOOL, "instr: LLVM: %s", reason);
}

static void enter(void *context, unsigned slot)
{
	(void)context;
	(void)slot;
	LLVMInstallFatalErrorHandler(fatal);
}

/* Does one job.  The answer is 0 or, negated, the unit's error code.  The error was already reported. */
static int work(void *context, uint64_t number, struct rd_buf *answer)
{
	const struct task *t = context;
	rd_buf_addc(answer, (char)-instr_unit_make(t->options, &t->jobs->items[number]));
	return 0;
}

static void report_death(const struct instr_job *job, int status)
{
	rd_fail(RD_ETOOL, "instr: %s at %llu: the worker died (%s %d)", job->source,
		(unsigned long long)job->offset, WIFSIGNALED(status) ? "signal" : "status",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static int run(const struct instr_jobs *jobs, size_t workers, const struct instr_options *options)
{
	struct task task = {jobs, options};
	struct rd_pool_opts opts = {.workers = (unsigned)(workers < jobs->count ? workers : jobs->count),
				    .enter = enter,
				    .work = work,
				    .context = &task};
	struct rd_pool_event event;
	struct rd_pool *pool;
	int code = 0;
	rd_pool_open(&pool, &opts);
	for (size_t next = 0; next < jobs->count || rd_pool_busy(pool) != 0;) {
		if (next < jobs->count && rd_pool_has_room(pool)) {
			if (rd_pool_submit(pool, next++) == 0)
				continue;
			code = RD_ETOOL;
			break;
		}
		rd_pool_next(pool, -1, &event);
		if (event.what == RD_POOL_LOST)
			report_death(&jobs->items[event.task], event.status);
		if (event.what == RD_POOL_LOST)
			code = RD_ETOOL;
		else if (event.what == RD_POOL_DONE && event.answer[0] != 0)
			code = -event.answer[0];
	}
	rd_pool_close(pool);
	return code;
}

/* Raises LLVM's limit for duplicating loops, so that large loops with gates are duplicated
 * (instr/track/track.c), even if that makes a lot of code. */
static void allow_large_loops(void)
{
	const char *const arguments[] = {"raddle-instr", "-unswitch-threshold=1000",
					 "-enable-unswitch-cost-multiplier=false"};
	LLVMParseCommandLineOptions(3, arguments, NULL);
}

static int read_guards(struct instr_guards *guards, const char *path)
{
	struct rd_buf text = RD_BUF_INIT;
	int code = rd_file_read(path, &text);
	if (code == 0)
		code = instr_guards_parse(guards, text.data, path);
	rd_buf_release(&text);
	return code;
}

/* Reads the file of gates, one gate in each line. */
static int read_gates(struct rd_names *gates, const char *path)
{
	struct rd_buf text = RD_BUF_INIT;
	int code = rd_file_read(path, &text);
	for (const char *at = text.data; code == 0 && at != NULL && *at != '\0';) {
		size_t length = strcspn(at, "\n"), line = gates->count;
		char none[32];
		/* Two functions may have the same name and place, so their gates have equal lines
		 * in the file.  Then only the first line is used.  The second line still takes a
		 * number, so that the numbers of later gates stay right. */
		if (rd_names_put(gates, at, length) != line)
			rd_names_put(gates, none, (size_t)snprintf(none, sizeof none, "%zu", line));
		at += length + (at[length] == '\n');
	}
	rd_buf_release(&text);
	return code;
}

static int read_what(struct instr_options *options, const char *path, struct instr_guards *guards,
		     struct rd_names *gates)
{
	if (options->flavour->number == RADDLE_FLAVOUR_TRACK) {
		options->gates = gates;
		return read_gates(gates, path);
	}
	options->guards = guards;
	return read_guards(guards, path);
}

int main(int argc, char **argv)
{
	struct instr_options options = {0};
	const char *flavour = "", *mode = "quick";
	const char *edits_text = NULL;
	const char *guards_path = NULL;
	struct rd_edits edits = {0};
	struct instr_guards guards = {0};
	struct rd_names gates = RD_NAMES_INIT;
	uint64_t workers = 1;
	const struct rd_option table[] = {
		RD_STRING(0, "flavour", &flavour, "NAME", "what to instrument for (raddle/flavour.inc)"),
		RD_STRING(0, "facts", &options.facts, "FILE",
			  "write facts of all units together, and no objects"),
		RD_STRING(0, "program", &options.program, "NAME", "name of the program, for the facts"),
		RD_NUMBER(0, "budget", &options.budget, "N",
			  "steps after which points-to sets are made cheaply"),
		RD_STRING(0, "mode", &mode, "quick|fast", "generate code quickly, or fast code"),
		RD_STRING(0, "hooks", &options.hooks, "FILE", "bitcode of the hooks"),
		RD_STRING(0, "edits", &edits_text, "LINES", "changes to the program"),
		RD_STRING(0, "guards", &guards_path, "FILE",
			  "guards or gates to insert, of the flavours guard and track"),
		RD_NUMBER(0, "jobs", &workers, "N", "processes to use"),
		RD_FLAG(0, "optimised", &options.optimised, "flavour full: optimise before instrumenting"),
		RD_FLAG(0, "debug", &options.debug, "keep debug information"),
		RD_FLAG(0, "keep-redundant", &options.keep_redundant, "keep events that add nothing new"),
		RD_FLAG(0, "print", &options.print, "print the instrumented code on stderr"),
		RD_FLAG(0, "time", &options.time, "print the CPU time of each step on stderr"),
		RD_END,
	};
	const struct rd_usage usage = {
		.synopsis = "raddle-instr --flavour NAME --mode quick|fast --hooks FILE [--jobs N] "
			    "JOBFILE, or raddle-instr --facts FILE --program NAME JOBFILE",
		.summary = "Instruments translation units; part of raddle, run by it.",
		.options = table,
	};
	int first = rd_options_parse(argc, argv, &usage);
	if (first == RD_OPTION_HELP)
		return 0;
	if (first < 0)
		return 2;
	options.fast = strcmp(mode, "fast") == 0;
	options.flavour = raddle_flavour_find(options.facts != NULL ? "record" : flavour);
	if (options.flavour == NULL || (options.facts == NULL) == (options.hooks == NULL) ||
	    first != argc - 1 || (!options.fast && strcmp(mode, "quick") != 0)) {
		rd_fail(RD_EUSAGE, "instr: usage: %s", usage.synopsis);
		return 2;
	}
	if (options.flavour->number == RADDLE_FLAVOUR_TRACK)
		allow_large_loops();
	struct instr_jobs jobs = {0};
	struct rd_buf text = RD_BUF_INIT;
	int code = rd_file_read(argv[first], &text);
	if (code == 0)
		code = rd_edits_parse(&edits, edits_text, "instr");
	options.edits = edits.count != 0 ? &edits : NULL;
	if (code == 0 && guards_path != NULL)
		code = read_what(&options, guards_path, &guards, &gates);
	if (code == 0)
		code = instr_jobs_parse(&jobs, text.data, argv[first]);
	if (code == 0 && options.facts != NULL) {
		instr_target_init();
		LLVMInstallFatalErrorHandler(fatal);
		code = instr_facts(&options, &jobs);
	} else if (code == 0 && jobs.count != 0) {
		qsort(jobs.items, jobs.count, sizeof *jobs.items, larger_first);
		instr_target_init();
		code = run(&jobs, workers != 0 ? workers : 1, &options);
	}
	free(jobs.items);
	rd_buf_release(&text);
	rd_edits_release(&edits);
	instr_guards_release(&guards);
	rd_names_release(&gates);
	return code == 0 ? 0 : code == RD_EUSAGE ? RD_EDIT_WRONG : 2;
}
