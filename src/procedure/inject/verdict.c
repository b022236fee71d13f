// SPDX-License-Identifier: Apache-2.0
/*
 * Verdicts.  In: the golden run and another run.  Out: the outcome, the place of a crash, and the
 * first deviation.
 *
 * If a signal ended the process, the records do not show which thread caused the signal.  It is
 * assumed to be a thread whose last access was not finished.  If there is no such thread, it is
 * assumed to be one that called abort(), or else one that had not ended and was not waiting.  If
 * several threads qualify, the thread with the fault is chosen.
 */
#include "inject/verdict-int.h"

#include "base/name.h"

#include "trace/event.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* --- the last records --------------------------------------------------------------------- */

enum likely { NOT, WAITS, RUNS, CALLED_ABORT, UNFINISHED };

struct thread_end {
	enum likely likely;
	uint32_t site;
};

/* Returns true if the program calls this function to report an error. */
static bool is_own_check(const struct trace_site *site)
{
	static const char *const names[] = {
#define LIBC_COMPLAINS(name) name,
#include "raddle/libc.inc"
	};

	return rd_is_one_of(site->what, names, sizeof names / sizeof *names);
}

static struct thread_end judge_record(const struct trace_sites *sites, const struct trace_record *r)
{
	const struct trace_site *site = trace_sites_find(sites, r->site);
	struct thread_end last = {RUNS, r->site};

	if (r->flags & TRACE_RECORD_UNFINISHED)
		last.likely = UNFINISHED;
	else if (r->kind == TRACE_FULL_EVENT && r->event->kind == RADDLE_THREAD_END)
		last.likely = NOT;
	else if (r->kind == TRACE_FULL_EVENT && r->event->kind == RADDLE_ABORT)
		last.likely = CALLED_ABORT;
	else if (r->kind == TRACE_FULL_EVENT && !raddle_is_counted(r->event->kind))
		last.likely = WAITS;
	else if ((r->kind == TRACE_FULL_CALL || r->kind == TRACE_FULL_TAIL) && site && is_own_check(site))
		last.likely = CALLED_ABORT;
	return last;
}

/* Finds out from the records in a thread's last buffer how the thread ended. */
static struct thread_end last_of(const struct inject_golden *g, const struct inject_buffer *b)
{
	const struct trace_sites *sites = trace_get_sites(g->trace);
	struct trace_full *f;
	struct trace_record r;
	struct thread_end last = {NOT, 0};

	trace_full_open_raw(&f, g->layout, b->thread, false);
	trace_full_feed(f, b->bytes, b->length);
	while (trace_full_next(f, &r) > 0) {
		uint32_t before = last.site;
		if (r.kind == TRACE_FULL_FAULT)
			continue;
		last = judge_record(sites, &r);
		/* An event has no site of its own.  It happened in the call of the previous record;
		 * if that record is in an earlier buffer, the site stays unknown. */
		if (!last.site)
			last.site = before;
	}
	trace_full_close(f);
	return last;
}

static bool is_last_buffer(const struct inject_raw *raw, size_t i)
{
	for (size_t k = i + 1; k < raw->count; k++)
		if (raw->buffers[k].thread == raw->buffers[i].thread)
			return false;
	return true;
}

static struct thread_end find_end(const struct inject_golden *g, const struct inject_run *run)
{
	const struct inject_raw *raw = run->first.count ? &run->first : &run->raw;
	struct thread_end best = {NOT, 0};

	for (size_t i = 0; i < raw->count; i++) {
		bool struck = raw->buffers[i].thread == run->thread;
		struct thread_end one;

		if (!is_last_buffer(raw, i))
			continue;
		one = last_of(g, &raw->buffers[i]);
		if (one.likely > best.likely || (struck && one.likely == best.likely))
			best = one;
	}
	return best;
}

/* ---- the outcome ---- */

/* Returns true if the fault was activated.  A fault that changed a value into itself was not
 * activated.  If several values were changed, only one of them is known, so the fault counts as
 * activated. */
static bool is_activated(const struct inject_fault *fault, const struct inject_run *run)
{
	enum raddle_fault_action action = fault->faults[0].action;
	bool event = action == RADDLE_FAULT_CALL || action == RADDLE_FAULT_DELAY ||
		     action == RADDLE_FAULT_KILL || action == RADDLE_FAULT_EXHAUST;
	bool same = run->before == run->after && !event;

	return run->fired > 1 || (run->fired == 1 && (!same || fault->count > 1));
}

static enum runlog_outcome ended_by_signal(const struct inject_case *c, struct inject_verdict *v)
{
	struct thread_end end = find_end(c->golden, c->run);

	if (end.site)
		inject_where(trace_get_sites(c->golden->trace), end.site, v->place, sizeof v->place);
	return WTERMSIG(c->run->end.status) == SIGABRT && end.likely == CALLED_ABORT ? RUNLOG_DETECTED
										     : RUNLOG_CRASH;
}

void inject_verdict_outcome(const struct inject_case *c, struct inject_verdict *v, const char **differs)
{
	struct inject_judge judge = {&c->setup->ignore, c->setup->filter, c->setup->errors};

	*differs = NULL;
	if (inject_hangs(c->run))
		v->outcome = RUNLOG_HANG;
	else if (WIFSIGNALED(c->run->end.status))
		v->outcome = ended_by_signal(c, v);
	else if (c->run->end.status != c->setup->status)
		v->outcome = RUNLOG_DETECTED;
	else if (inject_output_equal(&c->golden->output, &c->run->output, &judge, differs))
		v->outcome = RUNLOG_MASKED;
	else
		v->outcome = RUNLOG_SDC;
	if (!is_activated(c->fault, c->run))
		v->outcome = RUNLOG_INACTIVE;
}

/* ---- the deviation ---- */

/* A fault in a run whose outcome is masked.  The fault itself makes one record deviate.  This is
 * the record of the changed load or result, of the call with the changed argument, or of the call
 * that was prevented.  The comparison ignores this record once, and then sets `used`. */
struct ignored_fault {
	const struct inject_case *one;
	bool used;
};

static bool is_fault_itself(void *context, const struct epa_deviation *d)
{
	struct ignored_fault *p = context;
	const struct run_fault *f = &p->one->fault->faults[0];
	const struct trace_site *site = trace_sites_find(trace_get_sites(p->one->golden->trace), f->site);
	uint8_t kind = d->run.kind;
	bool call = kind == TRACE_FULL_CALL || kind == TRACE_FULL_TAIL || kind == TRACE_FULL_ENTRY;

	if (p->used || !d->thread || strcmp(d->thread, p->one->fault->thread) != 0)
		return false;
	p->used = site && site->kind == TRACE_SITE_ARGUMENT ? call : epa_deviation_site(d) == f->site;
	return p->used;
}

int inject_verdict_compare(const struct inject_case *c, struct inject_verdict *v)
{
	static const enum runlog_deviation deviations[] = {
		[EPA_SAME] = RUNLOG_NONE,	[EPA_DATA] = RUNLOG_DATA,
		[EPA_ADDRESS] = RUNLOG_ADDRESS, [EPA_CONTROL] = RUNLOG_CONTROL,
		[EPA_MISSING] = RUNLOG_MISSING, [EPA_EXTRA] = RUNLOG_EXTRA,
	};
	struct ignored_fault ignored = {c, c->fault->count > 1 || c->run->fired > 1};
	struct epa_compare_options options = {.faulty_thread = c->fault->thread, .context = &ignored};
	struct epa_comparison result;
	int r;

	/* In all other runs, the record of the fault itself counts as a deviation. */
	if (v->outcome == RUNLOG_MASKED)
		options.ignore = is_fault_itself;
	r = inject_golden_compare(c->golden, &c->run->raw, &options, &result);

	v->records = result.records;
	v->deviation = RUNLOG_NONE;
	if (!r && result.deviated) {
		const struct epa_deviation *first = &result.first;
		v->deviation = deviations[first->kind];
		inject_where(trace_get_sites(c->golden->trace),
			     epa_deviation_own_site(first, trace_get_sites(c->golden->trace)),
			     v->deviation_at, sizeof v->deviation_at);
		v->deviation_site = epa_deviation_site(first);
		snprintf(v->deviation_thread, sizeof v->deviation_thread, "%s",
			 first->thread ? first->thread : RD_UNKNOWN);
	}
	epa_comparison_release(&result);
	return r;
}
