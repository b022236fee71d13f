// SPDX-License-Identifier: Apache-2.0
/* Lines of the log.  A line is made from a run and its verdict, and can be turned into the fault of
 * the run again. */
#include "inject/log.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define HEX 24 /* bytes of a number as text; 0x and 16 digits fit */

/* --- writing -------------------------------------------------------------------------------- */

static void add_plan(struct rd_buf *plan, const struct inject_fault *fault)
{
	for (size_t i = 0; i < fault->count; i++) {
		const struct run_fault *f = &fault->faults[i];

		rd_buf_adds(plan, i ? "," : "");
		if (f->forks)
			rd_buf_adds(plan, "P_0");
		for (uint32_t k = 0; k < f->forks; k++)
			rd_buf_addf(plan, "_%" PRIu32, f->process[k]);
		rd_buf_addf(plan, "%s%s:%" PRIu32 ":%" PRIu64 ":%s:0x%" PRIx64 ":%" PRIu64 ":%" PRIu64,
			    f->forks ? "/" : "", fault->thread, f->site, f->instance,
			    run_fault_action_name(f->action), f->mask[0], f->mask[1], f->repeat);
		if (f->chance)
			rd_buf_addf(plan, ":0x%" PRIx64, f->chance);
	}
}

static int64_t only_bit(const struct run_fault *f)
{
	bool bits = f->action == RADDLE_FAULT_FLIP || f->action == RADDLE_FAULT_CLEAR ||
		    f->action == RADDLE_FAULT_RAISE;

	return bits && __builtin_popcountll(f->mask[0]) == 1 ? __builtin_ctzll(f->mask[0]) : -1;
}

static const char *text_or_null(const char *text)
{
	return *text ? text : NULL;
}

static void set_end(struct runlog_run *r, const struct inject_run *run, const struct inject_verdict *v)
{
	r->fired = run->fired != 0;
	r->outcome = v->outcome;
	r->exit = WIFEXITED(run->end.status) ? WEXITSTATUS(run->end.status) : -1;
	r->place = text_or_null(v->place);
	r->deviation = v->deviation;
	r->deviation_at = text_or_null(v->deviation_at);
	r->deviation_thread = text_or_null(v->deviation_thread);
	r->deviation_site = v->deviation_site;
	r->records = v->records;
	r->cpu_ms = (double)run->end.cpu_us / 1e3;
	r->wall_ms = (double)run->end.wall_us / 1e3;
	r->diff = text_or_null(v->diff);
	r->trace = text_or_null(v->trace);
}

void inject_log_line(const struct trace_sites *sites, const struct inject_fault *fault,
		     const struct inject_run *run, const struct inject_verdict *verdict, struct rd_buf *line)
{
	RD_ASSERT(fault != NULL && run != NULL);
	const struct run_fault *f = &fault->faults[0];
	const struct trace_site *site = trace_sites_find(sites, f->site);
	char where[INJECT_TEXT], mask[HEX], before[HEX], after[HEX], signal[32];
	struct rd_buf plan = RD_BUF_INIT;
	struct runlog_run r = {.run = fault->run,
			       .fault = inject_kind_at(fault->kind)->name,
			       .thread = fault->thread,
			       .site = f->site,
			       .where = where,
			       .opcode = site ? inject_opcode(site) : NULL,
			       .instance = f->instance,
			       .action = run_fault_action_name(f->action),
			       .mask = mask,
			       .bit = only_bit(f),
			       .stratum = fault->stratum,
			       .population = fault->population};

	add_plan(&plan, fault);
	r.plan = plan.data;
	inject_where(sites, f->site, where, sizeof where);
	snprintf(mask, sizeof mask, "0x%016" PRIx64, f->mask[0]);
	snprintf(before, sizeof before, "0x%016" PRIx64, run->before);
	snprintf(after, sizeof after, "0x%016" PRIx64, run->after);
	r.before = run->fired ? before : NULL;
	r.after = run->fired ? after : NULL;
	if (WIFSIGNALED(run->end.status) && !inject_hangs(run)) {
		const char *name = sigabbrev_np(WTERMSIG(run->end.status));
		snprintf(signal, sizeof signal, name ? "SIG%s" : "%s", name ? name : RD_UNKNOWN);
		r.signal = signal;
	}
	set_end(&r, run, verdict);
	runlog_write(line, &r);
	rd_buf_release(&plan);
}

/* --- reading ---------------------------------------------------------------------------------- */

static int parse_plan(const char *plan, struct inject_fault *fault)
{
	int r = 0;

	for (const char *at = plan; *at && !r;) {
		size_t n = strcspn(at, ",");
		char *one = rd_xstrndup(at, n);

		r = fault->count == INJECT_FAULTS_MAX
			    ? rd_fail(RD_ELIMIT, "inject: more than %d faults in a run", INJECT_FAULTS_MAX)
			    : run_fault_parse(&fault->faults[fault->count++], one);
		free(one);
		at += at[n] ? n + 1 : n;
	}
	return r;
}

int inject_log_fault(const struct runlog_run *run, struct inject_fault *fault)
{
	int kind = inject_kind_find(run->fault, strlen(run->fault));

	if (kind < 0 || !run->thread || strlen(run->thread) >= sizeof fault->thread || !run->plan ||
	    !*run->plan)
		return rd_fail(RD_EFORMAT,
			       "inject: run %" PRIu64 " of the log has no description of its fault",
			       run->run);
	*fault = (struct inject_fault){.run = run->run, .kind = (size_t)kind};
	snprintf(fault->thread, sizeof fault->thread, "%s", run->thread);
	return parse_plan(run->plan, fault);
}

int inject_log_fault_line(const char *line, struct inject_fault *fault)
{
	struct rd_names texts = RD_NAMES_INIT;
	struct runlog_run run;
	const char *wrong = runlog_parse(&run, line, strlen(line), &texts);
	int r = wrong ? rd_fail(RD_EFORMAT, "inject: --repeat: not a line of a log: %s", wrong)
		      : inject_log_fault(&run, fault);

	rd_names_release(&texts);
	return r;
}

struct reading {
	const char *path;
	inject_line_fn *fn;
	void *context;
};

static int read_line(void *context, const char *text, size_t length)
{
	const struct reading *reading = context;
	struct rd_names texts = RD_NAMES_INIT;
	struct runlog_run run;
	const char *wrong = runlog_parse(&run, text, length, &texts);
	int r = 0;

	if (wrong)
		rd_warn("%s: a damaged line is skipped: %s", reading->path, wrong);
	else
		r = reading->fn(reading->context, &run, text, length + 1);
	rd_names_release(&texts);
	return r;
}

int inject_log_read(const char *path, inject_line_fn *fn, void *context, uint64_t *length)
{
	struct reading reading = {path, fn, context};
	struct rd_buf text = RD_BUF_INIT;
	size_t whole = 0;
	int r = rd_file_exists(path) ? rd_file_read(path, &text) : 0;

	if (!r)
		r = runlog_lines(text.data, text.length, read_line, &reading, &whole);
	*length = whole;
	rd_buf_release(&text);
	return r;
}
