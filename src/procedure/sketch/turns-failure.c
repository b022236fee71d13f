// SPDX-License-Identifier: Apache-2.0
/*
 * Finds out how a run whose threads took turns has failed.  In: the result of the run and its
 * output.  Out: the failure, with its place and thread.  One thread runs at a time, so the thread
 * that had the turn is the one that failed.
 */
#include "sketch/turns-parts-int.h"

#include "base/alloc.h"
#include "base/file.h"
#include "trial/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_place(struct sketch_failure *f, const char *place)
{
	char file[4096], function[1024] = "";
	unsigned line;

	if (f->file || !place || sscanf(place, "%4095[^:]:%u: %1023[^\n]", file, &line, function) < 2)
		return;
	f->file = rd_xstrdup(file);
	f->line = line;
	f->function = *function ? rd_xstrdup(function) : NULL;
}

/* Sets the place of a deadlock from the first line of `places`, which consists of a thread, an
 * object, a kind and a place.  Returns the number of the thread. */
static uint32_t set_wait(struct turns_now *now, const char *places)
{
	const char *tab = strchr(places, '\t');
	char *name = tab ? rd_xstrndup(places, (size_t)(tab - places)) : NULL;
	uint32_t thread = turns_thread(now, name);

	free(name);
	for (int i = 0; i < 2 && tab; i++)
		tab = strchr(tab + 1, '\t');
	if (tab)
		set_place(now->failure, tab + 1);
	return thread;
}

static enum sketch_outcome kind_of(const char *fault)
{
	return !strcmp(fault, "assertion")			      ? SKETCH_ASSERTION
	       : !strcmp(fault, "deadlock") || !strcmp(fault, "hang") ? SKETCH_HANG
	       : !strcmp(fault, FAILURE_STATUS)			      ? SKETCH_EXIT
								      : SKETCH_CRASH;
}

/* Returns a short text for what failed, such as "SIGSEGV" or "status 3".  It is the same in every
 * run. */
static char *what_failed(const struct sketch_failure *f, const struct trial *t, const struct replay_result *r,
			 const char *fault)
{
	const char *name = sigabbrev_np(t->status);

	if (r->fault.what)
		return rd_xstrdup(r->fault.what);
	if (f->kind == SKETCH_CRASH && name)
		return rd_xasprintf("SIG%s", name);
	return f->kind == SKETCH_EXIT ? rd_xasprintf("status %d", t->status) : rd_xstrdup(fault);
}

/* Returns true if the program has a source file of that name.  Files of the runtime do not
 * count. */
static bool is_own_file(const void *context, const char *file)
{
	const struct sketch_turns *l = context;
	const struct trace_sites *sites = l->sites;

	for (size_t u = 0; file && u < sites->unit_count; u++)
		for (size_t i = 0; i < sites->units[u].site_count; i++) {
			const struct trace_site *s = &sites->sites[sites->units[u].site + i];
			const char *name = trace_sites_file(sites, s->file);

			if (name && !strcmp(rd_base_name(name), rd_base_name(file)))
				return true;
		}
	return false;
}

/* Sets the place of a crash from the report of the fatal signal.  The place at which the thread was
 * last stopped would be less exact: it is only the last known place before the crash. */
static void set_crash_place(struct sketch_turns *l, struct sketch_failure *f, const struct replay_result *r)
{
	const char *executable = l->bench.program.program->flavour.executable;

	const struct sketch_place *p =
		f->file ? NULL : sketch_crash_place(&l->places, executable, r->crash_places, is_own_file, l);

	if (!p)
		return;
	f->file = rd_xstrdup(p->file);
	f->function = p->function ? rd_xstrdup(p->function) : NULL;
	f->line = p->line;
}

void turns_describe(struct turns_now *now, const struct replay_result *r)
{
	struct sketch_turns *l = now->turns;
	struct sketch_failure *f = now->failure;
	struct failure n = {0};

	now->last = turns_thread(now, r->turns.runner);
	if (!now->trial->counts)
		return;
	failure_describe(&n, now->trial, r, l->sites,
			 now->trial->end == REPLAY_EXITED && now->trial->status ? FAILURE_STATUS : NULL,
			 l->bench.arena);
	if (!n.fault)
		return;
	sketch_read_assertion(f, now->trial->text[1].data, now->trial->text[1].length);
	f->kind = kind_of(n.fault);
	if (!f->what)
		f->what = what_failed(f, now->trial, r, n.fault);
	if (f->kind == SKETCH_CRASH && !r->fault.what)
		set_crash_place(l, f, r);
	f->thread = now->last;
	if (now->trial->end == REPLAY_DEADLOCKED && n.place)
		f->thread = set_wait(now, n.place);
	else
		set_place(f, n.place);
}
