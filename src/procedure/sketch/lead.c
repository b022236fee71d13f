// SPDX-License-Identifier: Apache-2.0
/*
 * Tracking by turns.  In: a program whose threads take turns, and a schedule.  Out: its events, and how it
 * failed.
 *
 * The program stands before each access and operation.  What a thread is about to do there has happened when
 * that thread stands again, or when it was the one that failed; only then it is an event, because another one
 * may be let go first.  Nobody else ran in between, so memory still has the value that was read or written.
 */
#include "sketch/lead-parts-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "explore/explore.h"
#include "trial/failure.h"
#include "explore/strategies.h"
#include "run/proc.h"
#include "trace/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_EVENTS 100000 /* of a run; then the older half is forgotten */
#define FRAMES 16	   /* functions inlined into each other that are looked through */

/* ---- values ---- */

/* Reads what the access is about; numbers of two, four and eight bytes have a sign, like most of the user's.
 */
static void look_at(pid_t pid, struct lead_pending *p)
{
	unsigned char raw[8] = {0};
	uint64_t value;

	if (!p->size || !run_process_peek(pid, p->address, raw, p->size)) {
		p->size = 0; /* nobody can read it */
		return;
	}
	memcpy(&value, raw, sizeof value);
	if (p->size == 4)
		value = (uint64_t)(int64_t)(int32_t)value;
	p->value = value;
}

/* ---- statements ---- */

/* Of the site's function and those that it was inlined into, the first whose file is the program's own. */
static void find_frame(const struct lead *l, uint32_t site, struct trace_frame *frame)
{
	struct trace_frame frames[FRAMES];
	size_t count = trace_sites_frames(l->sites, site, frames, FRAMES);

	for (size_t i = 0; i < count && i < FRAMES; i++) {
		bool own = *frames[i].file && !sketch_is_system_file(frames[i].file);

		if (own || !i)
			*frame = frames[i];
		if (own)
			return;
	}
}

static struct slice_statement statement_at(const struct lead *l, uint32_t site)
{
	const struct trace_site *s = trace_sites_find(l->sites, site);
	struct trace_frame frame = {.file = "", .function = ""};

	if (s)
		find_frame(l, site, &frame);
	return (struct slice_statement){.file = (char *)frame.file,
					.function = (char *)frame.function,
					.variable = s && s->what && *s->what ? (char *)s->what : NULL,
					.line = frame.line,
					.column = frame.column,
					.distance = UINT32_MAX};
}

/* Whether the site is a call, which as an access is the release of memory. */
static bool is_call(const struct lead *l, uint32_t site)
{
	const struct trace_site *s = trace_sites_find(l->sites, site);

	return s && s->kind == TRACE_SITE_CALL;
}

static uint32_t access_statement(struct lead *l, uint32_t site, bool write)
{
	struct slice_statement s = statement_at(l, site);

	if (!*s.file)
		return LEAD_NONE;
	s.kind = write ? SLICE_WRITE : SLICE_READ;
	s.role = write ? SLICE_WRITES : SLICE_READS;
	if (is_call(l, site)) {
		s.kind = SLICE_CALL;
		s.operation = "frees";
	}
	return sketch_statement(l->runs, &s);
}

static enum slice_role role_of(int kind)
{
	switch (raddle_role((uint32_t)kind)) {
	case RADDLE_ROLE_ACQUIRE:
	case RADDLE_ROLE_SHARE: return raddle_is_lock((uint32_t)kind) ? SLICE_ACQUIRES : SLICE_READS;
	case RADDLE_ROLE_RELEASE: return raddle_is_lock((uint32_t)kind) ? SLICE_RELEASES : SLICE_WRITES;
	case RADDLE_ROLE_WAIT: return SLICE_READS;
	case RADDLE_ROLE_NOTIFY:
	case RADDLE_ROLE_DESTROY: return SLICE_WRITES;
	default: return SLICE_NEUTRAL;
	}
}

/* An operation in a header is the program's at the call, which the thread's stack has; the facts tell which
 * of its words can be that. */
static void find_call(struct lead_now *now, const struct replay_stand *stand, const struct replay_stander *t,
		      struct slice_statement *s)
{
	struct lead *l = now->lead;
	const char *executable = l->bench.program.program->flavour.executable;
	uint64_t places[STACK_PLACES];
	size_t count;

	if (!l->callers || !sketch_is_system_file(s->file) || s->role == SLICE_NEUTRAL ||
	    s->role == SLICE_RELEASES) /* which tell little, and asking takes time */
		return;
	count = stack_places(&now->code, executable, stand->pid, t->tid, places);
	for (size_t i = 0; i < count; i++) {
		const struct sketch_place *p = sketch_place(&l->places, executable, places[i]);

		if (!p->file || sketch_is_system_file(p->file) ||
		    !caller_leads(l->callers, s, p->file, p->line))
			continue;
		s->file = p->file;
		s->function = p->function ? p->function : (char *)"";
		s->line = p->line;
		s->column = 0;
		return;
	}
}

static uint32_t operation_statement(struct lead_now *now, const struct replay_stand *stand)
{
	const struct replay_stander *t = &stand->threads[stand->who];
	struct lead *l = now->lead;
	struct slice_statement s = statement_at(l, t->site);
	int kind = trace_kind_find(t->kind);

	if (!*s.file || kind < 0 ||
	    kind == RADDLE_THREAD_END) /* which is nowhere: the site is an older one */
		return LEAD_NONE;
	s.kind = SLICE_SYNC;
	s.operation = (char *)t->kind;
	s.variable = NULL;
	s.role = role_of(kind);
	find_call(now, stand, t, &s);
	return sketch_statement(l->runs, &s);
}

/* ---- events ---- */

static void forget_older_half(struct sketch_run *run)
{
	size_t kept = run->count / 2;

	memmove(run->events, run->events + run->count - kept, kept * sizeof *run->events);
	run->count = kept;
	run->cut = true;
}

static void add_event(struct lead_now *now, uint32_t thread, uint32_t statement)
{
	const struct lead_pending *p = &now->threads[thread];

	RD_ASSERT(thread < LEAD_THREADS && statement < now->lead->runs->statement_count);
	RD_ASSERT(now->run->count <= MOST_EVENTS);
	if (now->run->count == MOST_EVENTS) {
		forget_older_half(now->run);
		now->range_count = 0;
	}
	if (p->length) {
		RD_GROW(now->ranges, now->range_capacity, now->range_count + 1);
		now->ranges[now->range_count++] = (struct lead_range){now->run->count, p->address, p->length};
	}
	sketch_event_add(now->run, &(struct sketch_event){.thread = thread,
							  .statement = statement,
							  .address = p->address,
							  .value = p->value,
							  .size = p->size});
	lead_did(now, thread, statement);
}

/* What the thread was about to do has happened. */
static void take_pending(struct lead_now *now, uint32_t thread)
{
	struct lead_pending *p = &now->threads[thread];

	if (p->statement != LEAD_NONE)
		add_event(now, thread, p->statement);
	if (p->second != LEAD_NONE)
		add_event(now, thread, p->second);
	p->statement = p->second = LEAD_NONE;
}

/* What was read is known since before; what was written, only now. */
static bool writes(const struct lead_now *now, const struct lead_pending *p)
{
	const struct slice_statement *s = now->lead->runs->statements;

	return (p->statement != LEAD_NONE && s[p->statement].kind == SLICE_WRITE) || p->second != LEAD_NONE;
}

static void note_access(struct lead_now *now, struct lead_pending *p, const struct replay_spot *spot)
{
	const struct trace_site *site = trace_sites_find(now->lead->sites, spot->site);
	bool both = site && (site->kind == TRACE_SITE_ATOMIC_RMW || site->kind == TRACE_SITE_ATOMIC_CMPXCHG);

	p->address = spot->address;
	p->size = spot->size <= 8 ? (uint8_t)spot->size : 0;
	p->length = spot->size > 8 || is_call(now->lead, spot->site) ? spot->size : 0;
	p->statement = access_statement(now->lead, spot->site, spot->write && !both);
	if (both)
		p->second = access_statement(now->lead, spot->site, true);
}

static void note_operation(struct lead_now *now, struct lead_pending *p, const struct replay_stand *stand)
{
	const struct replay_stander *t = &stand->threads[stand->who];

	if (!t->kind || !*t->kind || strcmp(t->point ? t->point : "", "op") != 0 || t->n == p->n)
		return;
	p->n = t->n;
	p->address = t->object;
	p->size = 0;
	p->length = 0;
	p->value = 0;
	p->statement = operation_statement(now, stand);
}

/* Who has that name; else who stood last. */
static uint32_t find_name(const struct lead_now *now, const char *name)
{
	for (uint32_t i = 0; name && i < LEAD_THREADS; i++)
		if (now->names[i] && !strcmp(now->names[i], name))
			return i;
	return now->last;
}

/* A thread that stands for the first time was created, even if its creator, whose name its own begins with,
 * has not come back from there. */
static void note_creator(struct lead_now *now, const char *name)
{
	const char *end = strrchr(name, '_');
	char *creator = end ? rd_xstrndup(name, (size_t)(end - name)) : NULL;
	uint32_t who = creator ? find_name(now, creator) : 0;
	const struct lead_pending *p = &now->threads[who];

	if (creator && now->names[who] && !strcmp(now->names[who], creator) && p->statement != LEAD_NONE) {
		const char *operation = now->lead->runs->statements[p->statement].operation;

		if (operation && !strcmp(operation, "thread-create"))
			take_pending(now, who);
	}
	free(creator);
}

/* Names are the runtime's of this moment. */
static void note_name(struct lead_now *now, const struct replay_stand *stand)
{
	const char *name = stand->threads[stand->who].thread;

	if (name && !now->names[stand->who]) {
		note_creator(now, name);
		now->names[stand->who] = rd_arena_strndup(now->lead->bench.arena, name, strlen(name));
	}
	now->last = (uint32_t)stand->who;
}

/* Whether the thread has not got the lock yet that it was seen to come for. */
static bool is_still_there(const struct lead_now *now, const struct lead_pending *p,
			   const struct replay_stand *stand)
{
	const struct replay_stander *t = &stand->threads[stand->who];

	return !stand->spot && p->statement != LEAD_NONE && t->n == p->n &&
	       now->lead->runs->statements[p->statement].role == SLICE_ACQUIRES && t->point &&
	       (!strcmp(t->point, "op") || !strcmp(t->point, "wait"));
}

static bool stands(void *context, const struct replay_stand *stand, struct schedule *more, const char **next)
{
	struct lead_now *now = context;
	struct lead_pending *p;

	(void)more;
	if (stand->who >= stand->thread_count || stand->who >= LEAD_THREADS)
		return true;
	p = &now->threads[stand->who];
	if (is_still_there(now, p, stand)) {
		*next = lead_choose(now, stand);
		return true;
	}
	if (writes(now, p))
		look_at(stand->pid, p);
	take_pending(now, (uint32_t)stand->who);
	note_name(now, stand);
	if (stand->spot)
		note_access(now, p, stand->spot);
	else
		note_operation(now, p, stand);
	for (size_t i = 0; i < stand->thread_count && i < LEAD_THREADS; i++)
		if (now->threads[i].statement != LEAD_NONE)
			look_at(stand->pid, &now->threads[i]);
	*next = lead_choose(now, stand);
	return true;
}

/* ---- the end ---- */

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

/* Of a deadlock the first line counts: thread, object, kind, place.  Returns the thread. */
static uint32_t set_wait(struct lead_now *now, const char *places)
{
	const char *tab = strchr(places, '\t');
	char *name = tab ? rd_xstrndup(places, (size_t)(tab - places)) : NULL;
	uint32_t thread = find_name(now, name);

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

/* What failed, in a word that is the same in every run. */
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

/* Whether the program has a source file of that name: the runtime has others. */
static bool is_own_file(const void *context, const char *file)
{
	const struct lead *l = context;
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

/* A fatal signal tells the place; where the thread stood last, only what it had come to before. */
static void set_crash_place(struct lead *l, struct sketch_failure *f, const struct replay_result *r)
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

static void look(void *context, const struct replay_result *r)
{
	struct lead_now *now = context;
	struct lead *l = now->lead;
	struct sketch_failure *f = now->failure;
	struct failure n = {0};

	now->last = find_name(now, r->turns.runner);
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

static void watch(struct schedule *s, uint32_t site, bool stand)
{
	struct schedule_watch *w = schedule_add_watch(s);

	w->after = SCHEDULE_ALWAYS;
	w->site = site;
	w->reads = w->writes = true;
	w->stand = stand;
}

/* Threads lose the turn where somebody looks, and at operations; where nobody does, at all accesses. */
static void watch_sites(const struct lead *l, struct schedule *s, bool near)
{
	if (l->blind || !l->watch) {
		watch(s, 0, !l->blind);
		return;
	}
	if (near) /* its decisions count all accesses */
		watch(s, 0, false);
	for (size_t i = 0; i < l->watch_count; i++)
		watch(s, l->watch[i], true);
}

/* The decisions of the failing run: in every third run all of them and no others, else the first few. */
static void begin_near(const struct lead *l, uint64_t number, struct schedule *s)
{
	size_t count = l->near->decision_count;
	bool all = number / 2 % 3 == 0;

	s->decisions = l->near->decisions;
	s->decision_count = all ? count : s->seed / 7 % (count + 1);
	if (all)
		s->seed = 0;
}

static void keep_schedule(struct sketch_run *run, const struct schedule *made)
{
	struct rd_buf text = RD_BUF_INIT;

	if (!made->turns)
		return;
	schedule_format(made, &text);
	run->schedule = rd_buf_detach(&text);
}

/* What is done to a range is done to each address of it that the run touched elsewhere. */
static void spread_ranges(struct lead_now *now)
{
	struct sketch_run *run = now->run, old = *run;
	struct rd_umap touched = RD_UMAP_INIT;
	size_t next = 0;

	if (!now->range_count)
		return;
	run->events = NULL;
	run->count = run->capacity = 0;
	for (size_t i = 0; i < old.count; i++) {
		struct sketch_event e = old.events[i];
		const struct lead_range *r = &now->ranges[next];

		sketch_event_add(run, &e);
		if (next == now->range_count || r->at != i)
			continue;
		next++;
		for (size_t k = 0; k < old.count; k++) {
			e.address = old.events[k].address;
			e.size = 0;
			if (e.address <= r->address || e.address - r->address >= r->length)
				continue;
			uint64_t *last = rd_umap_put(&touched, e.address, NULL);
			if (*last != next)
				sketch_event_add(run, &e);
			*last = next;
		}
	}
	RD_ASSERT(next == now->range_count);
	rd_umap_release(&touched);
	free(old.events);
}

static void finish(struct lead_now *now, const struct sketch_failure *f, const struct trial *t,
		   const struct schedule *made)
{
	struct sketch_run *run = now->run;

	run->outcome = f->kind;
	run->perturbed = true;
	if (f->kind == SKETCH_CRASH || f->kind == SKETCH_ASSERTION || t->end == REPLAY_DEADLOCKED)
		for (uint32_t i = 0; i < LEAD_THREADS; i++)
			if (i == now->last || t->end == REPLAY_DEADLOCKED)
				take_pending(now, i);
	spread_ranges(now);
	if (f->kind != SKETCH_PASSED)
		run->signature = sketch_signature(f);
	run->failed_thread = f->thread;
	keep_schedule(run, made);
}

int lead_run(struct lead *l, uint64_t number, const struct lead_order *order, struct sketch_failure *failure,
	     const char **why)
{
	struct draw draw = strategies_draw(number, 1, NULL, 0);
	struct lead_now now = {.lead = l, .order = *order, .seed = draw.seed | 1};
	struct trial t;
	struct trial_hooks hooks = {l->blind ? NULL : stands, look, &now};
	struct schedule s, made = {0};
	bool near = !l->blind && l->near && order->intervention == LEAD_WATCH && number % 2;
	int err;

	RD_ASSERT(order->intervention == LEAD_WATCH || (order->order && order->of));
	*failure = (struct sketch_failure){0};
	*why = NULL;
	now.run = sketch_run_add(l->runs);
	for (size_t i = 0; i < LEAD_THREADS; i++)
		now.threads[i].statement = now.threads[i].second = LEAD_NONE;
	schedule_init(&s);
	s.turns = true;
	s.seed = draw.seed;
	s.flavour = EXPLORE_FLAVOUR;
	s.looks = near;
	s.notes = true;
	watch_sites(l, &s, near);
	if (near)
		begin_near(l, number, &s);
	l->bench.strategy = draw.strategy;
	now.trial = &t;
	now.failure = failure;
	err = trial_run_with(&l->bench, &s, &hooks, &t, &made);
	if (!err)
		err = verdict_judge(l->judge, &t, failure);
	if (!err)
		finish(&now, failure, &t, &made);
	if (err || !t.counts) {
		*why = err ? NULL : t.why;
		sketch_failure_release(failure);
		RD_FREE(now.run->signature, now.run->events, now.run->schedule);
		l->runs->count--;
	}
	free(now.ranges);
	schedule_release(&made);
	if (near) /* they are not its own */
		s.decisions = NULL;
	schedule_release(&s);
	return err;
}
