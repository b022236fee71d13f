// SPDX-License-Identifier: Apache-2.0
/*
 * The events of a run whose threads take turns.  In: the program's state each time it is stopped.
 * Out: what its threads did at tracked statements, in order.
 *
 * The program is stopped before each access and operation, and another thread may run before the
 * access happens.  So what a thread was about to do becomes an event only when that thread has
 * reached its next point or has failed.  If the program is stopped at that point too, no other
 * thread has run since the access, so memory still holds the value that was read or written.
 */
#include "sketch/turns-parts-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "run/proc.h"
#include "trace/event.h"

#include <stdlib.h>
#include <string.h>

/* Largest number of events of a run.  When it is reached, the older half is dropped. */
#define MOST_EVENTS 100000
/* Largest number of nested inlined functions that are examined. */
#define FRAMES 16

/* ---- values ---- */

/* Reads the value at the address of the access.  Four-byte numbers are treated as signed, because
 * most are. */
static void look_at(pid_t pid, struct turns_pending *p)
{
	unsigned char raw[8] = {0};
	uint64_t value;

	if (!p->size || !run_process_peek(pid, p->address, raw, p->size)) {
		p->size = 0; /* the value cannot be read */
		return;
	}
	memcpy(&value, raw, sizeof value);
	if (p->size == 4)
		value = (uint64_t)(int64_t)(int32_t)value;
	p->value = value;
}

/* ---- statements ---- */

/* Finds a frame that is not in a system header: the function of the site, or the innermost function
 * into which it was inlined.  If all of them are in system headers, uses the function of the
 * site. */
static void find_frame(const struct sketch_turns *l, uint32_t site, struct trace_frame *frame)
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

static struct slice_statement statement_at(const struct sketch_turns *l, uint32_t site)
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

/* Returns true if the site is a call.  A call counts as an access only if it releases memory. */
static bool is_call(const struct sketch_turns *l, uint32_t site)
{
	const struct trace_site *s = trace_sites_find(l->sites, site);

	return s && s->kind == TRACE_SITE_CALL;
}

static uint32_t access_statement(struct sketch_turns *l, uint32_t site, bool write)
{
	struct slice_statement s = statement_at(l, site);

	if (!*s.file)
		return TURNS_NONE;
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

/* Attributes an operation in a system header to the line of the program that calls it.  The return
 * address of this call is on the stack of the thread.  The facts decide which words on the stack
 * can be this address. */
static void find_call(struct turns_now *now, const struct replay_stand *stand, const struct replay_stander *t,
		      struct slice_statement *s)
{
	struct sketch_turns *l = now->turns;
	const char *executable = l->bench.program.program->flavour.executable;
	uint64_t places[STACK_PLACES];
	size_t count;

	/* Neutral operations and releases matter little, and the search takes time. */
	if (!l->callers || !sketch_is_system_file(s->file) || s->role == SLICE_NEUTRAL ||
	    s->role == SLICE_RELEASES)
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

static uint32_t operation_statement(struct turns_now *now, const struct replay_stand *stand)
{
	const struct replay_stander *t = &stand->threads[stand->who];
	struct sketch_turns *l = now->turns;
	struct slice_statement s = statement_at(l, t->site);
	int kind = trace_kind_find(t->kind);

	/* The end of a thread has no place: its site is that of an earlier operation. */
	if (!*s.file || kind < 0 || kind == RADDLE_THREAD_END)
		return TURNS_NONE;
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

static void add_event(struct turns_now *now, uint32_t thread, uint32_t statement)
{
	const struct turns_pending *p = &now->threads[thread];

	RD_ASSERT(thread < TURNS_THREADS && statement < now->turns->runs->statement_count);
	RD_ASSERT(now->run->count <= MOST_EVENTS);
	if (now->run->count == MOST_EVENTS) {
		forget_older_half(now->run);
		now->range_count = 0;
	}
	if (p->length) {
		RD_GROW(now->ranges, now->range_capacity, now->range_count + 1);
		now->ranges[now->range_count++] =
			(struct turns_range){now->run->count, p->address, p->length};
	}
	sketch_event_add(now->run, &(struct sketch_event){.thread = thread,
							  .statement = statement,
							  .address = p->address,
							  .value = p->value,
							  .size = p->size});
	turns_did(now, thread, statement);
}

/* Makes an event of what the thread was about to do, because it has happened by now.  If a value
 * was read, it is already known.  A written value is known only now, so memory is read again,
 * unless the process is gone (`pid` is 0). */
static void take_pending(struct turns_now *now, uint32_t thread, pid_t pid)
{
	struct turns_pending *p = &now->threads[thread];
	const struct slice_statement *statements = now->turns->runs->statements;

	if (p->statement != TURNS_NONE && statements[p->statement].kind == SLICE_WRITE && pid)
		look_at(pid, p);
	if (p->statement != TURNS_NONE)
		add_event(now, thread, p->statement);
	if (p->second != TURNS_NONE && pid)
		look_at(pid, p);
	if (p->second != TURNS_NONE)
		add_event(now, thread, p->second);
	p->statement = p->second = TURNS_NONE;
}

static void note_access(struct turns_now *now, struct turns_pending *p, const struct replay_spot *spot)
{
	const struct trace_site *site = trace_sites_find(now->turns->sites, spot->site);
	bool both = site && (site->kind == TRACE_SITE_ATOMIC_RMW || site->kind == TRACE_SITE_ATOMIC_CMPXCHG);

	p->address = spot->address;
	p->size = spot->size <= 8 ? (uint8_t)spot->size : 0;
	p->length = spot->size > 8 || is_call(now->turns, spot->site) ? spot->size : 0;
	p->statement = access_statement(now->turns, spot->site, spot->write && !both);
	if (both)
		p->second = access_statement(now->turns, spot->site, true);
}

static void note_operation(struct turns_now *now, struct turns_pending *p, const struct replay_stand *stand)
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

uint32_t turns_thread(const struct turns_now *now, const char *name)
{
	for (uint32_t i = 0; name && i < TURNS_THREADS; i++)
		if (now->names[i] && !strcmp(now->names[i], name))
			return i;
	return now->last;
}

/* Called when a thread is stopped for the first time.  Adds the event of its creation, even if the
 * creator has not returned from the call yet.  The creator's name is a prefix of the thread's
 * name. */
static void note_creator(struct turns_now *now, const char *name)
{
	const char *end = strrchr(name, '_');
	char *creator = end ? rd_xstrndup(name, (size_t)(end - name)) : NULL;
	uint32_t who = creator ? turns_thread(now, creator) : 0;
	const struct turns_pending *p = &now->threads[who];

	if (creator && now->names[who] && !strcmp(now->names[who], creator) && p->statement != TURNS_NONE) {
		const char *operation = now->turns->runs->statements[p->statement].operation;

		if (operation && !strcmp(operation, "thread-create"))
			take_pending(now, who, 0);
	}
	free(creator);
}

/* Copies the thread's name, because the runtime's names are valid only during the stop. */
static void note_name(struct turns_now *now, const struct replay_stand *stand)
{
	const char *name = stand->threads[stand->who].thread;

	if (name && !now->names[stand->who]) {
		note_creator(now, name);
		now->names[stand->who] = rd_arena_strndup(now->turns->bench.arena, name, strlen(name));
	}
	now->last = (uint32_t)stand->who;
}

/* Returns true if the thread has not yet acquired the lock that it was about to acquire. */
static bool is_still_there(const struct turns_now *now, const struct turns_pending *p,
			   const struct replay_stander *t)
{
	return p->statement != TURNS_NONE && t->n == p->n &&
	       now->turns->runs->statements[p->statement].role == SLICE_ACQUIRES && t->point &&
	       (!strcmp(t->point, "op") || !strcmp(t->point, "wait"));
}

/* Other threads may have lost the turn at a point at which the program was not stopped.  What they
 * were about to do before that point has happened, so it becomes an event. */
static void take_others(struct turns_now *now, const struct replay_stand *stand)
{
	for (uint32_t i = 0; i < stand->thread_count && i < TURNS_THREADS; i++) {
		const struct replay_stander *t = &stand->threads[i];
		struct turns_pending *p = &now->threads[i];

		if (i != stand->who && p->statement != TURNS_NONE && t->arrivals != p->arrivals &&
		    !is_still_there(now, p, t))
			take_pending(now, i, stand->pid);
	}
}

void turns_stopped(struct turns_now *now, const struct replay_stand *stand, const char **next)
{
	struct turns_pending *p;

	if (stand->who >= stand->thread_count || stand->who >= TURNS_THREADS)
		return;
	p = &now->threads[stand->who];
	take_others(now, stand);
	if (!stand->spot && is_still_there(now, p, &stand->threads[stand->who])) {
		*next = turns_choose(now, stand);
		return;
	}
	take_pending(now, (uint32_t)stand->who, stand->pid);
	note_name(now, stand);
	p->arrivals = stand->threads[stand->who].arrivals;
	if (stand->spot)
		note_access(now, p, stand->spot);
	else
		note_operation(now, p, stand);
	for (size_t i = 0; i < stand->thread_count && i < TURNS_THREADS; i++)
		if (now->threads[i].statement != TURNS_NONE)
			look_at(stand->pid, &now->threads[i]);
	*next = turns_choose(now, stand);
}

/* ---- the end of the run ---- */

void turns_init(struct turns_now *now)
{
	for (size_t i = 0; i < TURNS_THREADS; i++)
		now->threads[i].statement = now->threads[i].second = TURNS_NONE;
}

/* An access to a range of memory is one event at first.  Adds a copy of this event for each other
 * address in the range that the run touched. */
static void spread_ranges(struct turns_now *now)
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
		const struct turns_range *r = &now->ranges[next];

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

void turns_finish(struct turns_now *now, bool failed, bool deadlocked)
{
	for (uint32_t i = 0; i < TURNS_THREADS; i++)
		if (deadlocked || (failed && i == now->last))
			take_pending(now, i, 0);
	spread_ranges(now);
}
