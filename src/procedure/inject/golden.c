// SPDX-License-Identifier: Apache-2.0
/*
 * Makes, saves and loads golden runs.  To save the trace of a run, the raw buffers of the run are
 * passed to the collector's sink.
 */
#include "inject/golden.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "record/prepare.h"
#include "record/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

void inject_golden_release(struct inject_golden *g)
{
	epa_reference_close(g->reference);
	epa_source_close(g->source);
	run_output_release(&g->output);
	inject_census_release(&g->census);
	trace_layout_free(g->layout);
	trace_close(g->trace);
	*g = (struct inject_golden){0};
}

int inject_golden_load(struct inject_golden *g, const char *directory)
{
	RD_ASSERT(g != NULL && directory != NULL);
	char *golden = rd_xasprintf("%s/golden", directory), *path = rd_xasprintf("%s/trace", golden);
	int r = trace_open(&g->trace, path, false);

	if (!r)
		r = trace_layout_new(&g->layout, trace_get_sites(g->trace));
	if (!r)
		r = epa_source_open(&g->source, path);
	if (!r)
		r = inject_census_take(&g->census, g->source, g->trace, g->layout);
	if (!r)
		r = run_output_load(&g->output, golden);
	if (!r)
		r = epa_reference_open(&g->reference, g->source);
	if (!r)
		epa_reference_map(g->reference);
	free(golden);
	free(path);
	return r;
}

static void add_buffer(struct epa_source *source, const struct inject_buffer *b)
{
	if (b->from)
		epa_source_add_mapped(source, b->thread, b->bytes, b->length, b->from);
	else
		epa_source_add(source, b->thread, b->bytes, b->length);
}

int inject_golden_compare(const struct inject_golden *g, const struct inject_raw *raw,
			  const struct epa_compare_options *options, struct epa_comparison *result)
{
	struct epa_source *source;
	int r;

	*result = (struct epa_comparison){0};
	epa_source_of_memory(&source, epa_source_layout(g->source), epa_source_sites(g->source));
	for (size_t i = 0; i < raw->count; i++)
		add_buffer(source, &raw->buffers[i]);
	r = epa_compare(g->reference, source, options, result);
	epa_source_close(source);
	return r;
}

static void set_status(struct record_sink *sink, int status)
{
	if (WIFSIGNALED(status))
		record_sink_status(sink, TRACE_SIGNALLED, WTERMSIG(status), false);
	else
		record_sink_status(sink, TRACE_EXITED, WEXITSTATUS(status), false);
}

int inject_trace_write(const struct inject_trace *t)
{
	const struct inject_setup *s = t->target->setup;
	struct record_sink *sink = NULL;
	struct trace_meta meta = {0};
	int r;

	record_prepare_meta(&meta, t->target->program, s->argv.items);
	r = record_prepare_directory(t->directory, true);
	if (!r)
		r = record_sink_open(&sink, t->directory, &meta, t->sites);
	if (!r)
		record_sink_full(sink, t->target->layout);
	for (size_t i = 0; i < t->run->raw.count && !r; i++) {
		const struct inject_buffer *b = &t->run->raw.buffers[i];
		r = record_sink_add(sink, b->thread, b->bytes, b->length, 0);
		if (b->from)
			rd_drop_pages(b->from, (size_t)(b->bytes - b->from) + b->length);
	}
	if (sink) {
		int closed;
		set_status(sink, t->run->end.status);
		closed = record_sink_close(sink, t->run->cut ? "size limit reached" : NULL, NULL);
		r = r ? r : closed;
	}
	record_release_meta(&meta);
	return r;
}

/* ---- making the golden run ---- */

/* The limits of a run, unless the user sets them.  They are GOLDEN_TIMES as much as the golden runs
 * needed, but at least these numbers of milliseconds, bytes and processes.  All were set by hand,
 * so that a healthy run never reaches them. */
#define WALL_MIN_MS 500
#define CPU_MIN_MS 200
#define GOLDEN_TIMES 10
#define TRACE_MIN (64u << 20)
#define MEMORY_MIN (1u << 30)
#define FILE_MIN (256u << 20)
#define PROCESSES_MIN 256
#define STACK_BYTES (8u << 20) /* size of a stack in bytes: the default of Linux */
#define INJECT_WHAT 1024       /* bytes of a message; longer messages are cut */

static uint64_t at_least(uint64_t value, uint64_t least)
{
	return value > least ? value : least;
}

static void add_facts(struct inject_setup *s, const struct inject_run *run)
{
	s->status = run->end.status;
	s->golden_wall_us = at_least(run->end.wall_us, s->golden_wall_us);
	s->golden_cpu_us = at_least(run->end.cpu_us, s->golden_cpu_us);
	s->golden_bytes = at_least(run->raw.bytes, s->golden_bytes);
}

/* Returns the size of a thread's stack in bytes.  The whole stack counts as data. */
static uint64_t stack_size(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return STACK_BYTES;
	return limit.rlim_cur;
}

/* Sets the limits that are known after the first run.  The other golden runs must stay within these
 * limits, which shows that the limits are sufficient. */
static void set_sizes(struct inject_setup *s, uint64_t peak_kb)
{
	if (!s->trace_size)
		s->trace_size = at_least(s->golden_bytes * GOLDEN_TIMES, TRACE_MIN);
	if (!s->memory)
		s->memory =
			at_least(peak_kb * 1024 * GOLDEN_TIMES, MEMORY_MIN) + 2 * s->threads * stack_size();
	if (!s->file_size)
		s->file_size = FILE_MIN;
	if (!s->processes)
		s->processes = at_least(s->threads * GOLDEN_TIMES, PROCESSES_MIN);
}

static void set_times(struct inject_setup *s)
{
	if (!s->wall_ms)
		s->wall_ms = at_least(s->golden_wall_us * GOLDEN_TIMES / 1000, WALL_MIN_MS);
	if (!s->cpu_ms)
		s->cpu_ms = at_least(s->golden_cpu_us * GOLDEN_TIMES / 1000, CPU_MIN_MS);
}

static int keep_golden(const struct inject_trace *t, const char *golden)
{
	int r = rd_mkdirs(golden);

	if (!r)
		r = inject_trace_write(t);
	if (!r)
		r = run_output_save(&t->run->output, golden);
	return r;
}

/* Checks how a fault-free run ended.  If it failed, other runs cannot be compared with it. */
static int check_end(const struct inject_setup *s, const struct inject_run *run)
{
	if (inject_hangs(run))
		return rd_fail(RD_EUSAGE,
			       "inject: %s does not end even without a fault; --timeout allows more time",
			       s->program);
	if (WIFSIGNALED(run->end.status))
		return rd_fail(RD_EUSAGE, "inject: %s is ended by signal %d without a fault", s->program,
			       WTERMSIG(run->end.status));
	if (!run->there)
		return rd_fail(RD_EUSAGE, "inject: %s makes no process %s, which --process names", s->program,
			       s->process);
	if (run->outlived)
		return rd_fail(
			RD_EUSAGE,
			"inject: the first process of %s does not wait for %s, which is killed when the "
			"first process ends",
			s->program, s->process);
	return run->cut ? rd_fail(RD_ELIMIT, "inject: the trace of %s is larger than --trace-size allows",
				  s->program)
			: 0;
}

static int differ(struct inject_setup *s, bool force, const char *what)
{
	s->forced = true;
	if (force) {
		rd_warn("inject: two runs without a fault differ: %s", what);
		return 0;
	}
	return rd_fail(RD_EUSAGE,
		       "inject: two runs without a fault differ: %s; so runs with a fault cannot be compared "
		       "with them (use --ignore or --filter for output that may differ, or "
		       "--allow-nondeterminism to continue anyway)",
		       what);
}

/* Compares a further fault-free run with the first one. */
static int check_same(const struct inject_golden *g, struct inject_setup *s, const struct inject_run *run,
		      bool force)
{
	struct inject_judge judge = {&s->ignore, s->filter, s->errors};
	const char *name;
	char what[INJECT_WHAT];

	if (run->end.status != s->status)
		return differ(s, force, "exit status");
	if (!inject_output_equal(&g->output, &run->output, &judge, &name)) {
		snprintf(what, sizeof what, "output '%s'", name);
		return differ(s, force, what);
	}
	return 0;
}

/* Compares the records of a run with those of the first one.  Different records are the first sign
 * that the behaviour of the program depends on the schedule, on the time or on chance. */
static int check_records(const struct inject_golden *g, struct inject_setup *s, const struct inject_run *run,
			 bool force)
{
	struct epa_comparison c;
	char what[INJECT_WHAT], where[INJECT_WHAT / 2];
	int r = inject_golden_compare(g, &run->raw, NULL, &c);

	if (!r && c.deviated) {
		inject_where(trace_get_sites(g->trace), epa_deviation_site(&c.first), where, sizeof where);
		snprintf(what, sizeof what,
			 "first a deviation of kind %s in thread %s, record %" PRIu64 ", at %s",
			 epa_deviation_name(c.first.kind), c.first.thread, c.first.number, where);
		r = differ(s, force, what);
	}
	epa_comparison_release(&c);
	return r;
}

static int repeat_golden(const char *directory, struct inject_setup *s, struct inject_target *t,
			 uint64_t peak_kb, bool force)
{
	char *scratch = rd_xasprintf("%s/scratch/golden", directory);
	struct inject_golden g = {0};
	struct inject_run run = {0};
	int r = inject_golden_load(&g, directory);

	if (!r && g.census.forks)
		rd_warn("inject: %s forks: only %s is injected into and compared (--process)", s->program,
			s->process ? s->process : "its first process, P_0,");
	s->records = g.census.records;
	s->threads = g.census.thread_count;
	set_sizes(s, peak_kb);
	for (uint64_t i = 1; i < s->golden_runs && !r; i++) {
		r = inject_run(t, scratch, NULL, &run);
		if (!r)
			r = check_end(s, &run);
		if (!r)
			r = check_same(&g, s, &run, force);
		if (!r)
			r = check_records(&g, s, &run, force);
		if (!r)
			add_facts(s, &run);
	}
	inject_run_release(&run);
	inject_golden_release(&g);
	free(scratch);
	return r;
}

static int first_golden(const char *directory, struct inject_setup *s, const struct inject_target *t,
			const char *sites, uint64_t *peak_kb)
{
	char *golden = rd_xasprintf("%s/golden", directory), *trace = rd_xasprintf("%s/trace", golden);
	char *scratch = rd_xasprintf("%s/scratch/golden", directory);
	struct inject_run run = {0};
	struct inject_trace kept = {trace, sites, t, &run};
	int r = inject_run(t, scratch, NULL, &run);

	if (!r)
		r = check_end(s, &run);
	if (!r)
		/* The trace contains a copy of the flavour's site table, so the flavour must still
		 * exist. */
		r = run_program_renew(t->program);
	if (!r) {
		add_facts(s, &run);
		*peak_kb = run.end.peak_kb;
		r = keep_golden(&kept, golden);
	}
	inject_run_release(&run);
	RD_FREE(scratch, trace, golden);
	return r;
}

int inject_golden_make(const char *directory, struct inject_setup *setup, const struct run_program *program,
		       bool force)
{
	struct inject_target t = {setup, program, NULL};
	struct trace_sites *sites = NULL;
	struct trace_layout *layout = NULL;
	uint64_t peak_kb = 0;
	int r = run_program_renew(program);

	if (!r)
		r = trace_sites_read(&sites, program->flavour.sites);
	if (!r)
		r = trace_layout_new(&layout, sites);
	t.layout = layout;
	if (!r)
		r = first_golden(directory, setup, &t, program->flavour.sites, &peak_kb);
	if (!r)
		r = repeat_golden(directory, setup, &t, peak_kb, force);
	if (!r)
		set_times(setup);
	trace_layout_free(layout);
	trace_sites_free(sites);
	return r;
}
