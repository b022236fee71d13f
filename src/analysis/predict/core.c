/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the reduced execution (core-int.h) from an execution.
 *
 * There are four passes: (1) find what is shared; (2) copy the events that matter, with critical
 * sections, lists of held locks and reads-from; (3) add the must-edges; (4) build the indices.
 * Each pass is one walk in trace order.  If a thread acquires a lock that it already holds, the
 * nested acquisition and its release are left out, so every section is an outermost one.  Locks may
 * be released in any order.
 */
#include "predict/core-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "predict/lane-int.h"

#include <stdlib.h>
#include <string.h>

/* ---- shared variables and locks ---- */

struct sharing {
	/* For each variable or lock, the first thread that uses it, or UINT16_MAX if no thread
	 * does. */
	uint16_t *variable_user, *lock_user;
	uint8_t *variable, *lock; /* for each variable or lock, a mask of SHARED and WRITTEN */
};
/* SHARED is set if several threads use the variable or lock, and WRITTEN if it is written. */
enum { SHARED = 1, WRITTEN = 2 };

static void note_user(uint16_t *user, uint8_t *state, uint16_t thread)
{
	if (*user == UINT16_MAX)
		*user = thread;
	else if (*user != thread)
		*state |= SHARED;
}

static void find_sharing(struct sharing *s, const struct exec *x)
{
	s->variable_user = rd_xmalloc((x->variables + 1) * sizeof *s->variable_user);
	s->lock_user = rd_xmalloc((x->locks + 1) * sizeof *s->lock_user);
	memset(s->variable_user, 0xff, (x->variables + 1) * sizeof *s->variable_user);
	memset(s->lock_user, 0xff, (x->locks + 1) * sizeof *s->lock_user);
	s->variable = rd_xcalloc(x->variables + 1, 1);
	s->lock = rd_xcalloc(x->locks + 1, 1);
	for (size_t i = 0; i < x->count; i++) {
		const struct exec_event *e = &x->events[i];
		if (exec_is_access(e->kind)) {
			note_user(&s->variable_user[e->object], &s->variable[e->object], e->thread);
			if (exec_writes(e->kind))
				s->variable[e->object] |= WRITTEN;
		} else if (exec_acquires(e->kind) || e->kind == EXEC_UNLOCK || e->kind == EXEC_BUSY) {
			note_user(&s->lock_user[e->object], &s->lock[e->object], e->thread);
			if (e->flags & EXEC_PENDING)
				s->lock[e->object] |= SHARED;
		}
	}
}

/* Returns true if the reduced execution must contain this access.  It must contain every unsure
 * access, that is, each whose order is not known for certain.  The event that makes the access
 * unsure may be in another window. */
static bool access_matters(const struct sharing *s, const struct exec_event *e)
{
	return (s->variable[e->object] & (SHARED | WRITTEN)) == (SHARED | WRITTEN) || e->flags & EXEC_UNSURE;
}

static void release_sharing(struct sharing *s)
{
	RD_FREE(s->variable_user, s->lock_user, s->variable, s->lock);
}

/* ---- events and sections ---- */

struct builder {
	struct core *c;
	struct sharing sharing;
	uint32_t *last_write; /* the last write to each variable so far */
	/* Maps each event of the execution to its number in the reduced execution. */
	uint32_t *moved;
	uint32_t *lengths; /* the number of kept events of each thread */
};

static struct event *append(struct builder *b, uint32_t source)
{
	RD_ASSERT(b->lengths[b->c->lane_of[b->c->x->events[source].thread]] < UINT32_MAX);
	struct core *c = b->c;
	const struct exec_event *e = &c->x->events[source];
	struct event *v = &c->events[c->count];

	*v = (struct event){.kind = e->kind,
			    .flags = e->flags,
			    .thread = c->lane_of[e->thread],
			    .object = e->kind == EXEC_JOIN ? c->lane_of[e->object] : e->object,
			    .source = source,
			    .section = NONE,
			    .held = c->sections.head[c->lane_of[e->thread]],
			    .index = b->lengths[c->lane_of[e->thread]]++};
	if (c->lane_from[e->thread] == NONE)
		c->lane_from[e->thread] = v->index;
	c->lane_to[e->thread] = v->index + 1;
	b->moved[source] = c->count;
	c->writer[c->count] = c->partner[c->count] = NONE;
	c->count++;
	c->loops |= exec_reads(e->kind) && e->flags & EXEC_LOOP;
	if (e->flags & EXEC_INITIAL)
		c->base[v->thread] = v->index + 1;
	if (e->flags & EXEC_UNSURE && v->index < c->wall[v->thread])
		c->wall[v->thread] = v->index;
	c->unsure |= e->flags & EXEC_UNSURE;
	return v;
}

static void add_acquire(struct builder *b, uint32_t source, const struct exec_event *e)
{
	struct core *c = b->c;
	uint32_t section = NONE;

	if (!(e->flags & EXEC_PENDING)) {
		section = sections_begin(&c->sections, c->lane_of[e->thread], e->object, c->count,
					 e->kind == EXEC_RDLOCK);
		if (section == NONE)
			return;
	}
	append(b, source)->section = section;
}

/* Adds a release that ends a section.  An EXEC_WAIT is kept even if its mutex is left out. */
static void add_release(struct builder *b, uint32_t source, const struct exec_event *e, uint32_t lock)
{
	struct core *c = b->c;
	uint32_t own = sections_end(&c->sections, c->lane_of[e->thread], lock, c->count);

	if (own == NONE && e->kind == EXEC_UNLOCK)
		return;
	append(b, source)->section = own;
}

static void add_access(struct builder *b, uint32_t source, const struct exec_event *e)
{
	append(b, source);
	if (exec_reads(e->kind))
		b->c->writer[b->c->count - 1] = b->last_write[e->object];
	if (exec_writes(e->kind))
		b->last_write[e->object] = b->c->count - 1;
}

static uint32_t thread_of(const struct core *c, uint32_t section)
{
	return c->x->events[c->events[c->sections.list[section].acquire].source].thread;
}

/* Returns the critical section of another thread that made a try-lock operation fail.  If there
 * are several, returns that of the thread with the lowest number. */
static uint32_t find_holder(const struct builder *b, const struct exec_event *e)
{
	const struct core *c = b->c;
	uint32_t best = NONE;

	for (uint32_t t = 0; t < c->threads; t++) {
		uint32_t s = t == c->lane_of[e->thread]
				     ? NONE
				     : sections_find(&c->sections, c->sections.head[t], e->object);
		if (s != NONE && !(c->sections.list[s].shared && e->aux == EXEC_RDLOCK) &&
		    (best == NONE || thread_of(c, s) < thread_of(c, best)))
			best = s;
	}
	return best;
}

static void add_busy(struct builder *b, uint32_t source, const struct exec_event *e)
{
	struct core *c = b->c;

	append(b, source);
	c->partner[c->count - 1] = find_holder(b, e);
	c->busy[c->busy_count++] = c->count - 1;
}

static void add_event(struct builder *b, uint32_t source)
{
	const struct exec_event *e = &b->c->x->events[source];

	if (exec_is_access(e->kind)) {
		if (access_matters(&b->sharing, e))
			add_access(b, source, e);
	} else if (exec_acquires(e->kind)) {
		if (b->sharing.lock[e->object] & SHARED)
			add_acquire(b, source, e);
	} else if (e->kind == EXEC_UNLOCK) {
		add_release(b, source, e, e->object);
	} else if (e->kind == EXEC_WAIT) {
		add_release(b, source, e, e->aux);
	} else if (e->kind == EXEC_BUSY) {
		add_busy(b, source, e);
	} else {
		append(b, source);
	}
}

static void *filled(size_t n)
{
	void *p = rd_xmalloc((n + 1) * sizeof(uint32_t));
	memset(p, 0xff, (n + 1) * sizeof(uint32_t));
	return p;
}

static size_t count_kept(const struct exec *x, const struct sharing *s, size_t *busy)
{
	size_t n = 0;

	*busy = 0;
	for (size_t i = 0; i < x->count; i++) {
		const struct exec_event *e = &x->events[i];
		if (exec_is_access(e->kind)) {
			n += access_matters(s, e);
		} else if (exec_acquires(e->kind) || e->kind == EXEC_UNLOCK) {
			n += s->lock[e->object] & SHARED;
		} else {
			n++;
			*busy += e->kind == EXEC_BUSY;
		}
	}
	return n;
}

static void build_events(struct builder *b)
{
	struct core *c = b->c;
	const struct exec *x = c->x;
	size_t busy, kept = count_kept(x, &b->sharing, &busy);

	c->events = rd_xmalloc((kept + 1) * sizeof *c->events);
	c->writer = rd_xmalloc((kept + 1) * sizeof *c->writer);
	c->partner = rd_xmalloc((kept + 1) * sizeof *c->partner);
	c->busy = rd_xmalloc((busy + 1) * sizeof *c->busy);
	c->lane_of = predict_lanes(x, &c->threads);
	c->lane_from = filled(x->threads);
	c->lane_to = rd_xcalloc((size_t)x->threads + 1, sizeof *c->lane_to);
	c->base = rd_xcalloc((size_t)x->threads + 1, sizeof *c->base);
	c->wall = filled(x->threads);
	c->unsure = x->unsure;
	sections_init(&c->sections, x->threads);
	b->last_write = filled(x->variables);
	b->moved = filled(x->count);
	b->lengths = rd_xcalloc((size_t)x->threads + 1, sizeof *b->lengths);
	for (size_t i = 0; i < x->count; i++)
		add_event(b, i);
}

static void build_threads(struct core *c, const uint32_t *lengths)
{
	c->thread_first = rd_xcalloc((size_t)c->threads + 2, sizeof *c->thread_first);
	c->by_thread = rd_xmalloc(((size_t)c->count + 1) * sizeof *c->by_thread);
	for (uint32_t t = 0; t < c->threads; t++)
		c->thread_first[t + 1] = c->thread_first[t] + lengths[t];
	for (uint32_t e = 0; e < c->count; e++)
		c->by_thread[c->thread_first[c->events[e].thread] + c->events[e].index] = e;
}

/* ---- must-edges ---- */

struct edge {
	uint32_t from, to;
};
struct edges {
	struct edge *items;
	size_t count, capacity;
};

static void add_edge(struct edges *s, uint32_t from, uint32_t to)
{
	RD_GROW(s->items, s->capacity, s->count + 1);
	s->items[s->count++] = (struct edge){from, to};
}

/* Groups edges by `to`, and keeps their order within a group. */
static void build_list(struct core_list *l, const struct edges *s, size_t n)
{
	RD_ASSERT(n < UINT32_MAX - 1);
	l->first = rd_xcalloc(n + 2, sizeof *l->first);
	l->item = rd_xmalloc((s->count + 1) * sizeof *l->item);
	for (size_t i = 0; i < s->count; i++)
		l->first[s->items[i].to + 2]++;
	for (size_t i = 1; i < n + 2; i++)
		l->first[i] += l->first[i - 1];
	for (size_t i = 0; i < s->count; i++)
		l->item[l->first[s->items[i].to + 1]++] = s->items[i].from;
}

struct must {
	struct core *c;
	struct edges edges, wakes;
	uint32_t *fork_of, *last_of; /* the creation and the last event of each thread */
	uint32_t *wait_of;	     /* the wait that each thread is in */
	uint32_t *run_of;	     /* the event that ran the initialiser of each once control */
	struct edges *enters;	     /* the entries of each barrier instance */
	const uint32_t *moved;
};

static void must_of_wake(struct must *m, uint32_t e, const struct exec_event *v)
{
	m->c->partner[e] = m->wait_of[v->thread];
	if (v->aux < EXEC_MATCH) {
		add_edge(&m->edges, m->moved[v->aux], e);
		add_edge(&m->wakes, e, m->moved[v->aux]);
	}
}

static void must_of_read(struct must *m, uint32_t e)
{
	const struct core *c = m->c;
	uint32_t w = c->writer[e];

	if (w == NONE || c->events[w].thread == c->events[e].thread)
		return;
	if (c->events[e].flags & c->events[w].flags & EXEC_SYNC || c->events[e].flags & EXEC_LOOP)
		add_edge(&m->edges, w, e);
}

static void must_of_event(struct must *m, uint32_t e)
{
	const struct event *v = &m->c->events[e];
	const struct exec_event *x = &m->c->x->events[v->source];
	uint32_t object = x->object;

	if (core_begins(m->c, e) && m->fork_of[x->thread] != NONE)
		add_edge(&m->edges, m->fork_of[x->thread], e);
	switch (v->kind) {
	case EXEC_READ:
	case EXEC_UPDATE: must_of_read(m, e); break;
	case EXEC_FORK: m->fork_of[object] = e; break;
	case EXEC_JOIN:
		if (m->last_of[object] != NONE)
			add_edge(&m->edges, m->last_of[object], e);
		else if (m->fork_of[object] != NONE)
			add_edge(&m->edges, m->fork_of[object], e);
		break;
	case EXEC_WAIT: m->wait_of[x->thread] = e; break;
	case EXEC_WAKE: must_of_wake(m, e, x); break;
	case EXEC_ENTER: add_edge(&m->enters[object], e, 0); break;
	case EXEC_EXIT:
		for (size_t i = 0; i < m->enters[object].count; i++)
			add_edge(&m->edges, m->enters[object].items[i].from, e);
		break;
	case EXEC_ONCE_RUN: m->run_of[object] = e; break;
	case EXEC_ONCE_PASS:
		if (m->run_of[object] != NONE)
			add_edge(&m->edges, m->run_of[object], e);
		break;
	}
	m->last_of[x->thread] = e;
}

static void build_must(struct core *c, const uint32_t *moved)
{
	struct must m = {.c = c, .moved = moved};

	m.fork_of = filled(c->x->threads);
	m.last_of = filled(c->x->threads);
	m.wait_of = filled(c->x->threads);
	m.run_of = filled(c->x->onces);
	m.enters = rd_xcalloc((size_t)c->barriers + 1, sizeof *m.enters);
	for (uint32_t e = 0; e < c->count; e++)
		must_of_event(&m, e);
	build_list(&c->must, &m.edges, c->count);
	build_list(&c->wakes, &m.wakes, c->count);
	RD_FREE_EACH(m.enters, c->barriers, .items);
	RD_FREE(m.enters, m.edges.items, m.wakes.items, m.fork_of, m.last_of, m.wait_of, m.run_of);
}

static void build_readers(struct core *c)
{
	struct edges readers = {0}, initial = {0};

	for (uint32_t e = 0; e < c->count; e++) {
		if (!exec_reads(c->events[e].kind))
			continue;
		if (c->writer[e] != NONE)
			add_edge(&readers, e, c->writer[e]);
		else
			add_edge(&initial, e, c->events[e].object);
	}
	build_list(&c->readers, &readers, c->count);
	build_list(&c->initial_readers, &initial, c->variables);
	free(readers.items);
	free(initial.items);
}

/* ---- indices ---- */

/* Returns true for the events that an index contains. */
typedef bool member_fn(const struct event *v);
struct index_filter {
	const struct core *c;
	member_fn *member;
};

static bool is_acquire(const struct event *v)
{
	return exec_acquires(v->kind) && v->section != NONE;
}
static bool is_exclusive(const struct event *v)
{
	return is_acquire(v) && v->kind != EXEC_RDLOCK;
}
static bool is_write(const struct event *v)
{
	return exec_writes(v->kind);
}
static bool is_access(const struct event *v)
{
	return exec_is_access(v->kind);
}
static bool is_post(const struct event *v)
{
	return v->kind == EXEC_POST;
}
static bool is_take(const struct event *v)
{
	return v->kind == EXEC_TAKE && !(v->flags & EXEC_PENDING);
}
static bool is_note(const struct event *v)
{
	return v->kind == EXEC_SIGNAL || v->kind == EXEC_BROADCAST;
}

static bool take_member(const void *context, uint32_t i, struct slot_item *item)
{
	const struct index_filter *filter = context;
	uint32_t e = filter->c->by_thread[i];
	const struct event *v = &filter->c->events[e];

	if (!filter->member(v))
		return false;
	*item = (struct slot_item){e, v->object, v->thread, v->index};
	return true;
}

static void build_slots(const struct core *c, struct slots *s, uint32_t objects, member_fn *member)
{
	slots_build(s, objects, c->count, take_member, &(struct index_filter){c, member});
}

/* Matches takes with posts in first-in, first-out order. */
static void match_takes(struct core *c)
{
	uint32_t *posts = rd_xmalloc(((size_t)c->count + 1) * sizeof *posts);
	uint32_t *oldest = filled(c->sems), *newest = filled(c->sems);
	int64_t *stock = rd_xcalloc((size_t)c->sems + 1, sizeof *stock);

	for (uint32_t s = 0; s < c->sems; s++)
		stock[s] = exec_sem_initial(c->x, s);
	for (uint32_t e = 0; e < c->count; e++) {
		const struct event *v = &c->events[e];
		if (v->kind == EXEC_POST) {
			posts[e] = NONE;
			if (oldest[v->object] == NONE)
				oldest[v->object] = e;
			else
				posts[newest[v->object]] = e;
			newest[v->object] = e;
		} else if (is_take(v)) {
			if (stock[v->object]-- > 0)
				continue;
			c->partner[e] = oldest[v->object];
			oldest[v->object] = posts[oldest[v->object]];
		}
	}
	RD_FREE(posts, oldest, newest, stock);
}

static void build_indices(struct core *c)
{
	build_slots(c, &c->acquires, c->locks, is_acquire);
	build_slots(c, &c->exclusive, c->locks, is_exclusive);
	build_slots(c, &c->writes, c->variables, is_write);
	build_slots(c, &c->accesses, c->variables, is_access);
	build_slots(c, &c->posts, c->sems, is_post);
	build_slots(c, &c->takes, c->sems, is_take);
	build_slots(c, &c->notes, c->conds, is_note);
}

void core_build(struct core *c, const struct exec *x)
{
	struct builder b = {.c = c};

	*c = (struct core){.x = x,
			   .locks = x->locks,
			   .variables = x->variables,
			   .conds = x->conds,
			   .sems = x->sems,
			   .barriers = x->barriers,
			   .has_sems = x->sems > 0,
			   .has_conds = x->conds > 0};
	find_sharing(&b.sharing, x);
	build_events(&b);
	build_threads(c, b.lengths);
	build_must(c, b.moved);
	build_readers(c);
	build_indices(c);
	if (c->has_sems)
		match_takes(c);
	release_sharing(&b.sharing);
	RD_FREE(b.last_write, b.moved, b.lengths);
}

static void list_release(struct core_list *l)
{
	free(l->first);
	free(l->item);
}

void core_release(struct core *c)
{
	struct slots *slots[] = {&c->acquires, &c->exclusive, &c->writes, &c->accesses,
				 &c->posts,    &c->takes,     &c->notes};
	struct core_list *lists[] = {&c->must, &c->readers, &c->initial_readers, &c->wakes};

	for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
		slots_release(slots[i]);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		list_release(lists[i]);
	rows_release(&c->need);
	rows_release(&c->firm);
	rows_release(&c->closed);
	RD_FREE(c->events, c->thread_first, c->by_thread, c->lane_of, c->lane_from, c->lane_to);
	sections_release(&c->sections);
	RD_FREE(c->writer, c->partner, c->base, c->wall, c->busy);
}

/* ---- needs ---- */

void core_include(const struct core *c, const struct rows *r, uint32_t *p, uint32_t e)
{
	RD_ASSERT(e < c->count);
	const struct event *v = &c->events[e];

	rows_include(r, e, v->thread, v->index + 1, p);
}

uint32_t core_fork(const struct core *c, uint32_t e)
{
	RD_ASSERT(e < c->count);
	for (uint32_t i = c->must.first[e]; i < c->must.first[e + 1]; i++) {
		const struct event *v = &c->events[c->must.item[i]];
		if (v->kind == EXEC_FORK && v->object == c->x->events[c->events[e].source].thread)
			return c->must.item[i];
	}
	return NONE;
}

void core_include_before(const struct core *c, const struct rows *r, uint32_t *p, uint32_t e)
{
	RD_ASSERT(e < c->count);
	const struct event *v = &c->events[e];

	uint32_t fork;

	if (!core_begins(c, e))
		core_include(c, r, p, core_event(c, v->thread, v->index - 1));
	else if ((fork = core_fork(c, e)) != NONE)
		core_include(c, r, p, fork);
}

bool core_sure(const struct core *c, const uint32_t *p)
{
	if (!c->walls)
		return true;
	for (uint32_t t = 0; t < c->threads; t++)
		if (p[t] > c->wall[t])
			return false;
	return !c->x->unsure;
}

bool core_common_lock(const struct core *c, uint32_t a, uint32_t b)
{
	RD_ASSERT(a < c->count && b < c->count);
	for (uint32_t i = core_held(c, a); i != NONE; i = c->sections.holds[i].next) {
		const struct section *s = &c->sections.list[c->sections.holds[i].section];
		for (uint32_t j = core_held(c, b); j != NONE; j = c->sections.holds[j].next) {
			const struct section *o = &c->sections.list[c->sections.holds[j].section];
			if (sections_exclude(s, o))
				return true;
		}
	}
	return false;
}

/* The state of one walk over the events, which computes one table of rows. */
struct clocking {
	struct core *c;
	struct rows *r;
	bool closing, firm;
	uint32_t *row_of; /* the current row of each thread */
	uint32_t *exits;  /* for each barrier instance, an exit whose row is known */
	uint32_t *p;	  /* an ideal for temporary use */
};

static bool adds(const struct clocking *k, uint32_t thread, uint32_t e)
{
	const struct event *v = &k->c->events[e];
	uint32_t row = k->row_of[thread];

	if (v->thread == thread)
		return false;
	return row == NONE || rows_row(k->r, row)[v->thread] <= v->index;
}

/* Copies the thread's vector clock to the scratch clock k->p.  An event of the window also comes
 * after all events that represent the state at the start of the window. */
static void begin_change(struct clocking *k, const struct event *v)
{
	size_t size = k->c->threads * sizeof *k->p;

	if (k->row_of[v->thread] == NONE)
		memset(k->p, 0, size);
	else
		memcpy(k->p, rows_row(k->r, k->row_of[v->thread]), size);
	for (uint32_t t = 0; t < k->c->threads && !(v->flags & EXEC_INITIAL); t++)
		if (k->c->base[t] > k->p[t])
			k->p[t] = k->c->base[t];
	k->p[v->thread] = v->index + 1;
}

/* Returns true if the scratch ideal equals the thread's row, apart from the thread's own
 * position. */
static bool is_known(const struct clocking *k, const struct event *v)
{
	const uint32_t *row = rows_row(k->r, k->row_of[v->thread]);

	return !memcmp(k->p, row, v->thread * sizeof *row) &&
	       !memcmp(k->p + v->thread + 1, row + v->thread + 1,
		       (k->c->threads - v->thread - 1) * sizeof *row);
}

static void end_change(struct clocking *k, const struct event *v)
{
	if (k->closing)
		predict_sp_close(k->c, k->p);
	if (k->row_of[v->thread] == NONE || !v->index || !is_known(k, v))
		k->row_of[v->thread] = rows_add(k->r, k->p);
}

/* Returns the `i`-th of the events that must precede `e`, apart from program order.  Returns NONE
 * after the last one. */
static uint32_t predecessors(const struct clocking *k, uint32_t e, uint32_t i)
{
	const struct core *c = k->c;
	uint32_t n = c->must.first[e + 1] - c->must.first[e];
	const struct event *v = &c->events[e];

	bool rf = c->rf && !k->firm;

	if (i < n) {
		uint32_t from = c->must.item[c->must.first[e] + i];
		bool value = exec_reads(v->kind) && from == c->writer[e] && !(v->flags & EXEC_LOOP);
		return k->firm && value ? e : from; /* an event adds nothing to itself */
	}
	if (i == n && rf && exec_reads(v->kind))
		return c->writer[e];
	if (i == n && rf && v->kind == EXEC_BUSY && c->partner[e] != NONE)
		return c->sections.list[c->partner[e]].acquire;
	if (i == n && k->closing && v->kind == EXEC_TAKE)
		return c->partner[e];
	return NONE;
}

/* Gives a barrier exit the vector clock of an earlier exit of the same barrier instance.  This
 * saves time, because all exits follow the same entries, of which there may be thousands. */
static bool clock_like_exit(struct clocking *k, uint32_t e)
{
	const struct core *c = k->c;
	const struct event *v = &c->events[e];
	uint32_t known = k->exits[v->object];

	if (known == NONE) {
		const struct event *before =
			v->index ? &c->events[core_event(c, v->thread, v->index - 1)] : NULL;
		if (before && before->kind == EXEC_ENTER && before->object == v->object &&
		    !(v->flags & (EXEC_INITIAL | EXEC_PENDING)))
			k->exits[v->object] = e;
		return false;
	}
	if (v->flags & EXEC_INITIAL)
		return false;
	const struct event *other = &c->events[known];
	begin_change(k, v);
	uint32_t own = k->p[other->thread];
	core_include(c, k->r, k->p, known);
	k->p[other->thread] = own > other->index ? own : other->index;
	end_change(k, v);
	k->r->of[e] = k->row_of[v->thread];
	return true;
}

static void clock_event(struct clocking *k, uint32_t e)
{
	RD_ASSERT(e < k->c->count);
	const struct event *v = &k->c->events[e];
	bool changing = k->row_of[v->thread] == NONE || v->index == k->c->base[v->thread] ||
			(k->closing && v->section != NONE && exec_acquires(v->kind));

	if (v->kind == EXEC_EXIT && clock_like_exit(k, e))
		return;
	if (changing)
		begin_change(k, v);
	for (uint32_t i = 0, from; (from = predecessors(k, e, i)) != NONE; i++) {
		if (!adds(k, v->thread, from))
			continue;
		if (!changing)
			begin_change(k, v);
		changing = true;
		core_include(k->c, k->r, k->p, from);
	}
	if (changing)
		end_change(k, v);
	k->r->of[e] = k->row_of[v->thread];
}

static void clock_table(struct core *c, struct rows *r)
{
	struct clocking k = {.c = c, .r = r, .closing = r == &c->closed, .firm = r == &c->firm};

	rows_release(r);
	rows_init(r, c->count, c->threads);
	k.row_of = filled(c->threads);
	k.exits = filled(c->barriers);
	k.p = rd_xmalloc(((size_t)c->threads + 1) * sizeof *k.p);
	for (uint32_t e = 0; e < c->count; e++)
		clock_event(&k, e);
	RD_FREE(k.row_of, k.exits, k.p);
}

void core_clocks(struct core *c, bool rf)
{
	c->rf = rf;
	clock_table(c, &c->need);
	clock_table(c, &c->closed);
	if (rf && (c->has_sems || c->has_conds))
		clock_table(c, &c->firm);
}
