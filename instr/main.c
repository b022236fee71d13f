/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raddle-instr: the LLVM worker of Raddle.  bitcode/ writes a list of units and
 * runs it; people do not.
 *
 *	raddle-instr --flavour record|full --mode quick|fast --hooks HOOK.bc --jobs N JOBFILE
 *	raddle-instr --facts FILE --program NAME JOBFILE
 *
 * A line of JOBFILE is a unit, fields separated by tabs: file that holds the
 * bitcode, offset, length, slot, object to make, site table part to make, and
 * one more field that is "-".
 *
 * LLVM is loaded once; workers are forked and take units from a shared list,
 * the largest first; --facts, which wants all units in one module, is the work of one.  LLVM aborts on some
 *inputs: then the worker dies, the unit it had is reported as failed, and a new worker takes its place.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/option.h"
#include "instr/unit.h"

#include <llvm-c/ErrorHandling.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* What parent and workers share. */
enum unit_state { UNIT_WAITS, UNIT_RUNS, UNIT_DONE, UNIT_FAILED };
struct board {
	_Atomic size_t next;
	_Atomic int states[];
};

static char *field(char **line)
{
	char *start = *line;
	if (start == NULL)
		return NULL;
	char *tab = strchr(start, '\t');
	if (tab != NULL)
		*tab++ = '\0';
	*line = tab;
	return start;
}

static bool number(const char *s, uint64_t *value)
{
	char *end;
	if (s == NULL || *s < '0' || *s > '9')
		return false;
	errno = 0;
	*value = strtoull(s, &end, 10);
	return errno == 0 && *end == '\0';
}

static int parse_line(struct instr_job *job, char *line, const char *path, size_t line_number)
{
	job->source = field(&line);
	char *offset = field(&line), *length = field(&line), *slot = field(&line);
	job->object = field(&line);
	job->sites = field(&line);
	if (job->sites == NULL || !number(offset, &job->offset) || !number(length, &job->length) ||
	    !number(slot, &job->slot))
		return rd_fail(RD_EFORMAT, "instr: %s:%zu: not a unit", path, line_number);
	return 0;
}

/* `text` keeps the strings of the jobs. */
static int read_jobs(const char *path, struct instr_jobs *jobs, struct rd_buf *text)
{
	int code = rd_file_read(path, text);
	size_t line_number = 0;
	char *line = text->data;
	while (code == 0 && *line != '\0') {
		char *end = strchr(line, '\n');
		char *next = end != NULL ? end + 1 : line + strlen(line);
		if (end != NULL)
			*end = '\0';
		line_number++;
		RD_GROW(jobs->items, jobs->capacity, jobs->count + 1);
		code = parse_line(&jobs->items[jobs->count++], line, path, line_number);
		line = next;
	}
	return code;
}

static int larger_first(const void *a, const void *b)
{
	const struct instr_job *x = a, *y = b;
	if (x->length != y->length)
		return x->length > y->length ? -1 : 1;
	return strcmp(x->object, y->object);
}

/* LLVM is about to abort: its text is all there will be. */
static void fatal(const char *reason)
{
	rd_fail(RD_ETOOL, "instr: LLVM: %s", reason);
}

static _Noreturn void work(const struct instr_jobs *jobs, struct board *board,
			   const struct instr_options *options)
{
	LLVMInstallFatalErrorHandler(fatal);
	for (;;) {
		size_t i = atomic_fetch_add(&board->next, 1);
		if (i >= jobs->count)
			_exit(0);
		atomic_store(&board->states[i], UNIT_RUNS | (int)getpid() << 2);
		int code = instr_unit_make(options, &jobs->items[i]);
		atomic_store(&board->states[i], code == 0 ? UNIT_DONE : UNIT_FAILED);
	}
}

/* A worker that died had a unit: report it.  Returns whether units are left. */
static bool bury(const struct instr_jobs *jobs, struct board *board, pid_t pid, int status)
{
	for (size_t i = 0; i < jobs->count; i++) {
		if (board->states[i] != (UNIT_RUNS | (int)pid << 2))
			continue;
		board->states[i] = UNIT_FAILED;
		rd_fail(RD_ETOOL, "instr: %s at %llu: the worker died (%s %d)", jobs->items[i].source,
			(unsigned long long)jobs->items[i].offset, WIFSIGNALED(status) ? "signal" : "status",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	}
	return board->next < jobs->count;
}

static pid_t start(const struct instr_jobs *jobs, struct board *board, const struct instr_options *options)
{
	pid_t pid = fork();
	if (pid == 0)
		work(jobs, board, options);
	if (pid < 0)
		rd_fail_errno("instr: fork");
	return pid;
}

static int run(const struct instr_jobs *jobs, size_t workers, const struct instr_options *options)
{
	size_t size = sizeof(struct board) + jobs->count * sizeof(_Atomic int), live = 0;
	struct board *board = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED)
		return rd_fail_errno("instr: mmap");
	for (size_t i = 0; i < workers && i < jobs->count; i++)
		live += start(jobs, board, options) > 0;
	while (live != 0) {
		int status;
		pid_t pid = wait(&status);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			break;
		live--;
		if (bury(jobs, board, pid, status) && status != 0)
			live += start(jobs, board, options) > 0;
	}
	int code = 0;
	for (size_t i = 0; i < jobs->count; i++)
		if (board->states[i] != UNIT_DONE)
			code = RD_ETOOL;
	munmap(board, size);
	return code;
}

int main(int argc, char **argv)
{
	struct instr_options options = {0};
	const char *flavour = "", *mode = "quick";
	uint64_t workers = 1;
	const struct rd_option table[] = {
		RD_STRING(0, "flavour", &flavour, "NAME", "what to instrument for: record or full"),
		RD_STRING(0, "facts", &options.facts, "FILE",
			  "write facts of all units together, and no objects"),
		RD_STRING(0, "program", &options.program, "NAME", "what the facts are of"),
		RD_STRING(0, "mode", &mode, "quick|fast", "generate code quickly, or fast code"),
		RD_STRING(0, "hooks", &options.hooks, "FILE", "bitcode of the hooks"),
		RD_NUMBER(0, "jobs", &workers, "N", "processes to use"),
		RD_FLAG(0, "debug", &options.debug, "keep debug information"),
		RD_FLAG(0, "keep-redundant", &options.keep_redundant, "keep events that say nothing new"),
		RD_FLAG(0, "print", &options.print, "print the instrumented code on stderr"),
		RD_FLAG(0, "time", &options.time, "print the CPU time of each step on stderr"),
		RD_END,
	};
	const struct rd_usage usage = {
		.synopsis = "raddle-instr --flavour record|full --mode quick|fast --hooks FILE [--jobs N] "
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
	struct instr_jobs jobs = {0};
	struct rd_buf text = RD_BUF_INIT;
	int code = read_jobs(argv[first], &jobs, &text);
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
	return code == 0 ? 0 : 2;
}
