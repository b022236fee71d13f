/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the orders in a line of events that a schedule has to enforce.
 *
 * Two operations clash if swapping them results in a different execution.  The following operations
 * clash: two acquisitions of a lock; a failed acquisition and the section that made it fail; a post
 * of a semaphore and the take that it allows; two takes; a wait and a notification; two
 * notifications; two uses of a barrier; the initialiser of a once control and the calls that return
 * without running it.  Accesses to the same variable clash too.  A schedule orders only operations,
 * so it needs two operations to separate two accesses: one that the first thread does after its
 * access, and a later one that the second thread does before its access.
 *
 * The program itself enforces program order, fork and join, barriers, and what a wait waits for.
 * Once acquisitions are in order, it also enforces that a release precedes the next acquisition.  A
 * schedule need not repeat any of this.  These orders are kept in vector clocks.  The clock of a
 * thread contains, for every other thread, how many of its operations have certainly been done.  A
 * clock changes at few operations, so each thread has a list of versions of its clock.
 *
 * The same walk serves two purposes.  When it collects clashes, it records each clash whose order
 * does not follow from the clocks, and assumes from then on that the schedule enforces it.  When it
 * checks a plan, the clocks also contain the order of the listed operations.  The check fails at
 * the first clash whose order does not follow from the clocks.
 */
#include "predict/clash-int.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* The limit on the total size of all clocks, in units of 4 bytes (256 MiB in total).  Set by hand.
 * When the limit is reached, clocks no longer change, so more clashes than necessary are
 * recorded. */
#define CLOCKS_MAX (64u << 20)

struct version {
	uint32_t since; /* index of the operation at which the clock changed */
	size_t row;
};

struct versions {
	struct version *items;
	size_t count, capacity;
};

/* A critical section. */
struct lock_section {
	uint32_t acquire, release; /* operations; NO_OP until they happen */
	uint32_t thread, depth;
	uint32_t busy; /* head of the list of acquisitions that failed because of this section */
	uint32_t next;
};

struct op_node {
	uint32_t op, next;
};

struct lock_state {
	/* The latest exclusive section, and the head of the list of shared sections after it. */
	uint32_t exclusive, shared;
};

struct sem_state {
	uint32_t *posts;
	size_t count, capacity, used;
	uint32_t last_take;
	size_t total; /* number of posts in the line */
	/* The thread that does all posts.  NO_OP if no thread posts, and NO_OP - 1 if several
	 * threads do. */
	uint32_t poster;
};

struct cond_state {
	uint32_t note;	  /* the latest notification */
	uint32_t waiting; /* head of the list of unfinished waits */
	/* The head of the list of waits that have ended without a notification since `note`. */
	uint32_t ended;
};

struct barrier_state { /* a barrier, identified by the number of its first instance */
	uint32_t instance;
	/* The heads of the lists of operations that entered the previous and the current
	 * instance. */
	uint32_t previous, current;
};

/* An access, with its thread and the number of operations that the thread did before it. */
struct touch {
	uint32_t thread, after, next;
};

struct variable_state {
	uint32_t write, reads; /* the last write, and the head of the list of reads after it */
};

struct clash_walk {
	const struct event_line *l;
	const struct exec *x;
	/* Operations that the plan lists; NULL when the walk collects clashes. */
	const uint8_t *listed;
	struct clashes *out;
	bool implied;
	uint32_t *done; /* the number of operations that each thread has done so far */
	struct versions *clock;
	uint32_t *rows;
	size_t row_count, row_capacity;
	uint32_t *list_clock; /* clock of the last listed operation */
	struct lock_state *locks;
	struct sem_state *sems;
	struct cond_state *conds;
	struct barrier_state *barriers;
	uint32_t *once; /* the operation that ran the initialiser of each once control */
	/* For each barrier instance, 1 + the row that joins the clocks of all its entries. */
	size_t *gathered;
	struct variable_state *variables;
	uint32_t *fork;	   /* the operation that created each thread */
	uint32_t *last_op; /* the last operation of each thread */
	uint32_t *joined;  /* the operation that joined each thread */
	struct lock_section *sections;
	struct op_node *nodes;
	struct touch *touches;
	size_t section_count, section_capacity, node_count, node_capacity, touch_count, touch_capacity;
};

static void *filled(size_t n, size_t size)
{
	void *p = rd_xmalloc((n + 1) * size);
	memset(p, 0xff, (n + 1) * size);
	return p;
}

/* ---- clocks ---- */

static size_t new_row(struct clash_walk *w)
{
	size_t n = w->l->threads;

	RD_GROW(w->rows, w->row_capacity, (w->row_count + 1) * n);
	memset(w->rows + w->row_count * n, 0, n * sizeof *w->rows);
	return w->row_count++;
}

static bool full(const struct clash_walk *w)
{
	return (w->row_count + 1) * w->l->threads > CLOCKS_MAX;
}

/* Returns the clock that a thread has after its first `after` operations.  Returns NULL if no
 * operation of another thread is known to be ordered before that point. */
static const uint32_t *row_at(const struct clash_walk *w, uint32_t thread, uint32_t after)
{
	RD_ASSERT(thread < w->l->threads);
	const struct versions *v = &w->clock[thread];
	size_t next = 0;

	RD_BISECT(next, v->count, at, v->items[at].since <= after);
	return next ? w->rows + v->items[next - 1].row * w->l->threads : NULL;
}

static bool knows(const struct clash_walk *w, uint32_t thread, uint32_t other, uint32_t index)
{
	RD_ASSERT(thread < w->l->threads && other < w->l->threads);
	const struct versions *v = &w->clock[thread];

	if (thread == other)
		return true;
	return v->count && w->rows[v->items[v->count - 1].row * w->l->threads + other] >= index;
}

/* Returns the clock that a thread has after its latest operation.  The caller may change this
 * clock.  Returns NULL if the memory limit is reached. */
static uint32_t *own_row(struct clash_walk *w, uint32_t thread)
{
	RD_ASSERT(thread < w->l->threads);
	struct versions *v = &w->clock[thread];
	size_t n = w->l->threads;

	if (v->count && v->items[v->count - 1].since == w->done[thread])
		return w->rows + v->items[v->count - 1].row * n;
	if (full(w))
		return NULL;
	size_t row = new_row(w);
	if (v->count)
		memcpy(w->rows + row * n, w->rows + v->items[v->count - 1].row * n, n * sizeof *w->rows);
	RD_GROW(v->items, v->capacity, v->count + 1);
	v->items[v->count++] = (struct version){w->done[thread], row};
	return w->rows + row * n;
}

static void merge(uint32_t *to, const uint32_t *from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (from[i] > to[i])
			to[i] = from[i];
}

/* Notes that operation `from`, and everything that precedes it, comes before the latest operation
 * of `thread`. */
static void learn(struct clash_walk *w, uint32_t from, uint32_t thread)
{
	RD_ASSERT(from < w->l->op_count);
	uint32_t other = w->l->op_thread[from], index = w->l->index[from];

	if (knows(w, thread, other, index))
		return;
	uint32_t *row = own_row(w, thread);
	if (!row)
		return;
	const uint32_t *its = row_at(w, other, index);
	if (its)
		merge(row, its, w->l->threads);
	row[other] = index > row[other] ? index : row[other];
}

static bool is_before_start(const struct clash_walk *w, uint32_t op)
{
	return w->l->ops[op] < w->l->of->start;
}

/* Records a clash: `from` must happen before the latest operation of `thread`, or before an access
 * that follows that operation. */
static void require(struct clash_walk *w, uint32_t from, uint32_t thread)
{
	RD_ASSERT(from == NO_OP || from < w->l->op_count);
	if (from == NO_OP || knows(w, thread, w->l->op_thread[from], w->l->index[from]))
		return;
	if (is_before_start(w, from) && is_before_start(w, w->last_op[thread])) {
		learn(w, from, thread);
		return;
	}
	if (w->listed) {
		w->implied = false;
		return;
	}
	struct clashes *c = w->out;
	RD_GROW(c->items, c->capacity, c->count + 1);
	c->items[c->count++] = (struct clash){from, w->last_op[thread]};
	learn(w, from, thread);
}

static uint32_t push_node(struct clash_walk *w, uint32_t op, uint32_t next)
{
	RD_GROW(w->nodes, w->node_capacity, w->node_count + 1);
	w->nodes[w->node_count] = (struct op_node){op, next};
	return (uint32_t)w->node_count++;
}

/* Records that every operation in a list must happen before the latest operation of `thread`.  The
 * list begins with its latest operation, because ordering that one may already order the
 * others. */
static void require_all(struct clash_walk *w, uint32_t list, uint32_t thread)
{
	for (; list != NO_OP; list = w->nodes[list].next)
		require(w, w->nodes[list].op, thread);
}

/* ---- locks ---- */

/* Returns the section of `lock` that `thread` is in, or NO_OP if it is in no such section. */
static uint32_t open_section(const struct clash_walk *w, uint32_t lock, uint32_t thread)
{
	const struct lock_state *s = &w->locks[lock];

	if (s->exclusive != NO_OP && w->sections[s->exclusive].thread == thread &&
	    w->sections[s->exclusive].release == NO_OP)
		return s->exclusive;
	for (uint32_t i = s->shared; i != NO_OP; i = w->sections[i].next)
		if (w->sections[i].thread == thread && w->sections[i].release == NO_OP)
			return i;
	return NO_OP;
}

/* Records that a critical section must come before a later acquisition of its lock.  A blocking
 * acquisition waits for the end of the section by itself, so the schedule needs to order only the
 * beginning of the section.  A non-blocking acquisition (a trylock) must come after the end of the
 * section. */
static void require_section(struct clash_walk *w, uint32_t section, uint32_t thread, bool blocks)
{
	const struct lock_section *p = &w->sections[section];

	if (p->release == NO_OP)
		return;
	require(w, blocks ? p->acquire : p->release, thread);
	learn(w, p->release, thread);
}

/* If the critical section is known to have begun, notes that it ended before the lock was acquired
 * again.  This may imply further orders. */
static void learn_section(struct clash_walk *w, uint32_t section, uint32_t thread)
{
	const struct lock_section *p = &w->sections[section];

	if (p->release != NO_OP && knows(w, thread, p->thread, w->l->index[p->acquire]))
		learn(w, p->release, thread);
}

static void do_acquire(struct clash_walk *w, const struct exec_event *e, uint32_t op, uint32_t thread)
{
	struct lock_state *s = &w->locks[e->object];
	uint32_t own = open_section(w, e->object, thread);
	bool blocks = !(e->flags & EXEC_TRY), shared = e->kind == EXEC_RDLOCK;

	if (own != NO_OP) {
		w->sections[own].depth++;
		return;
	}
	for (uint32_t i = shared ? NO_OP : s->shared; i != NO_OP && blocks; i = w->sections[i].next)
		learn_section(w, i, thread);
	for (uint32_t i = shared ? NO_OP : s->shared; i != NO_OP; i = w->sections[i].next)
		require_section(w, i, thread, blocks);
	if (s->exclusive != NO_OP)
		require_section(w, s->exclusive, thread, blocks);
	RD_GROW(w->sections, w->section_capacity, w->section_count + 1);
	w->sections[w->section_count] = (struct lock_section){.acquire = op,
							      .release = NO_OP,
							      .thread = thread,
							      .depth = 1,
							      .busy = NO_OP,
							      .next = shared ? s->shared : NO_OP};
	if (shared) {
		s->shared = (uint32_t)w->section_count++;
	} else {
		s->exclusive = (uint32_t)w->section_count++;
		s->shared = NO_OP;
	}
}

static void do_release(struct clash_walk *w, uint32_t lock, uint32_t op, uint32_t thread)
{
	uint32_t own = open_section(w, lock, thread);

	if (own == NO_OP || --w->sections[own].depth)
		return;
	w->sections[own].release = op;
	require_all(w, w->sections[own].busy, thread);
}

static void do_busy(struct clash_walk *w, const struct exec_event *e, uint32_t op, uint32_t thread)
{
	const struct lock_state *s = &w->locks[e->object];
	uint32_t holder = s->exclusive, lowest = NO_OP;

	if (holder != NO_OP && (w->sections[holder].release != NO_OP || w->sections[holder].thread == thread))
		holder = NO_OP;
	for (uint32_t i = s->shared; i != NO_OP && e->aux != EXEC_RDLOCK; i = w->sections[i].next) {
		const struct lock_section *p = &w->sections[i];
		uint32_t number = w->x->events[w->l->ops[p->acquire]].thread;
		if (p->release != NO_OP || p->thread == thread || number >= lowest)
			continue;
		lowest = number;
		holder = i;
	}
	if (holder == NO_OP)
		return;
	require(w, w->sections[holder].acquire, thread);
	w->sections[holder].busy = push_node(w, op, w->sections[holder].busy);
}

/* ---- primitives other than locks ---- */

/* Returns true if the take needs all posts of the semaphore, except later ones by its own
 * thread. */
static bool takes_the_last(const struct clash_walk *w, const struct sem_state *s, const struct exec_event *e)
{
	uint32_t initial = exec_sem_initial(w->x, e->object), thread = w->l->thread_of[e->thread];
	size_t later = 0;

	if (s->used < initial || s->used - initial != s->count || s->count == 0)
		return false;
	for (uint32_t i = w->l->first[thread] + w->done[thread]; i < w->l->first[thread + 1]; i++) {
		const struct exec_event *own = &w->x->events[w->l->ops[w->l->by_thread[i]]];
		later += own->kind == EXEC_POST && own->object == e->object;
	}
	return s->count + later == s->total;
}

static void do_take(struct clash_walk *w, const struct exec_event *e, uint32_t op, uint32_t thread)
{
	struct sem_state *s = &w->sems[e->object];
	uint32_t initial = exec_sem_initial(w->x, e->object);
	size_t n = ++s->used;
	uint32_t post = n > initial && n - initial <= s->count ? s->posts[n - initial - 1] : NO_OP;
	bool blocks = !(e->flags & EXEC_TRY), last = blocks && takes_the_last(w, s, e);

	/* The n-th take of a semaphore waits until there have been enough posts.  If a single
	 * thread does all posts, the take therefore waits for `post`. */
	bool waits = last || (blocks && s->poster < NO_OP - 1);
	if (!waits && post != NO_OP && s->last_take != NO_OP && post > s->last_take)
		require(w, post, thread);
	require(w, s->last_take, thread);
	for (size_t i = s->count; last && i-- > 0;)
		learn(w, s->posts[i], thread);
	if (post != NO_OP && waits)
		learn(w, post, thread);
	else
		require(w, post, thread);
	s->last_take = op;
}

static void do_wait(struct clash_walk *w, const struct exec_event *e, uint32_t op, uint32_t thread)
{
	struct cond_state *s = &w->conds[e->object];

	do_release(w, e->aux, op, thread);
	require(w, s->note, thread);
	s->waiting = push_node(w, op, s->waiting);
}

static void do_note(struct clash_walk *w, const struct exec_event *e, uint32_t op, uint32_t thread)
{
	struct cond_state *s = &w->conds[e->object];

	require_all(w, s->ended, thread);
	require_all(w, s->waiting, thread);
	require(w, s->note, thread);
	s->note = op;
	s->ended = NO_OP;
}

/* Returns the number of threads that wait for the condition.  A signal can wake any of them. */
static uint32_t count_waiting(const struct clash_walk *w, uint32_t cond)
{
	uint32_t n = 0;

	for (uint32_t i = w->conds[cond].waiting; i != NO_OP; i = w->nodes[i].next)
		n++;
	return n;
}

/* Handles a wake and the acquisition after it, which are one operation of the program: `op`. */
static void do_wake(struct clash_walk *w, const struct exec_event *wake, uint32_t op, uint32_t thread)
{
	struct cond_state *s = &w->conds[wake->object];
	uint32_t *at = &s->waiting, others = count_waiting(w, wake->object);
	uint32_t note = w->l->note[op];

	while (*at != NO_OP && w->l->op_thread[w->nodes[*at].op] != thread)
		at = &w->nodes[*at].next;
	/* Only with speculative semantics can the notification be earlier than the wait. */
	bool ended = note == NO_OP || (*at != NO_OP && note < w->nodes[*at].op);
	if (*at != NO_OP)
		*at = w->nodes[*at].next;
	if (ended)
		s->ended = push_node(w, op, s->ended);
	if (note == NO_OP)
		return;
	learn(w, note, thread);
	if (w->out && others > 1 && w->x->events[wake->aux].kind == EXEC_SIGNAL && !is_before_start(w, op))
		w->out->forced[op] = 1;
}

/* Each instance of a barrier is ordered after the previous one. */
static void do_enter(struct clash_walk *w, const struct exec_event *e, uint32_t op, uint32_t thread)
{
	if (e->aux < w->x->barriers) {
		struct barrier_state *s = &w->barriers[e->aux];
		if (s->instance != e->object) {
			s->previous = s->current;
			s->current = NO_OP;
			s->instance = e->object;
		}
		require_all(w, s->previous, thread);
		s->current = push_node(w, op, s->current);
	}
	size_t *gathered = &w->gathered[e->object];
	if (!*gathered && full(w))
		return;
	if (!*gathered)
		*gathered = 1 + new_row(w);
	uint32_t *row = w->rows + (*gathered - 1) * w->l->threads;
	const uint32_t *own = row_at(w, thread, w->done[thread]);
	if (own)
		merge(row, own, w->l->threads);
	row[thread] = w->done[thread];
}

static void do_exit(struct clash_walk *w, const struct exec_event *e, uint32_t thread)
{
	uint32_t *row = w->gathered[e->object] ? own_row(w, thread) : NULL;

	if (row)
		merge(row, w->rows + (w->gathered[e->object] - 1) * w->l->threads, w->l->threads);
}

static void do_join(struct clash_walk *w, uint32_t ended, uint32_t op, uint32_t thread)
{
	uint32_t other = w->l->thread_of[ended];

	if (w->fork[ended] != NO_OP)
		learn(w, w->fork[ended], thread);
	if (other == NO_OP)
		return;
	if (w->last_op[other] != NO_OP)
		learn(w, w->last_op[other], thread);
	w->joined[other] = op;
}

static void do_other(struct clash_walk *w, const struct exec_event *e, uint32_t op, uint32_t thread)
{
	struct sem_state *s;

	switch (e->kind) {
	case EXEC_FORK: w->fork[e->object] = op; break;
	case EXEC_JOIN: do_join(w, e->object, op, thread); break;
	case EXEC_POST:
		s = &w->sems[e->object];
		RD_GROW(s->posts, s->capacity, s->count + 1);
		s->posts[s->count++] = op;
		break;
	case EXEC_ONCE_RUN: w->once[e->object] = op; break;
	case EXEC_ONCE_PASS: require(w, w->once[e->object], thread); break;
	default: break;
	}
}

static void do_sync(struct clash_walk *w, const struct exec_event *e, uint32_t op, uint32_t thread)
{
	switch (e->kind) {
	case EXEC_LOCK:
	case EXEC_RDLOCK:
	case EXEC_WRLOCK: do_acquire(w, e, op, thread); break;
	case EXEC_UNLOCK: do_release(w, e->object, op, thread); break;
	case EXEC_BUSY: do_busy(w, e, op, thread); break;
	case EXEC_TAKE: do_take(w, e, op, thread); break;
	case EXEC_WAIT: do_wait(w, e, op, thread); break;
	case EXEC_SIGNAL:
	case EXEC_BROADCAST: do_note(w, e, op, thread); break;
	case EXEC_ENTER: do_enter(w, e, op, thread); break;
	case EXEC_EXIT: do_exit(w, e, thread); break;
	default: do_other(w, e, op, thread);
	}
}

/* ---- accesses ---- */

/* Orders an access of `thread` after an earlier access that clashes with it.  Enforces this order
 * only if the operation that follows the earlier access came before the last operation of
 * `thread`. */
static void keep_apart(struct clash_walk *w, uint32_t touch, uint32_t thread)
{
	const struct touch *t = &w->touches[touch];
	uint32_t other = t->thread;

	if (other == thread || !w->done[thread])
		return;
	uint32_t from =
		w->done[other] > t->after ? w->l->by_thread[w->l->first[other] + t->after] : w->joined[other];
	if (from != NO_OP && from < w->last_op[thread])
		require(w, from, thread);
}

static void do_access(struct clash_walk *w, const struct exec_event *e, uint32_t variable, uint32_t thread)
{
	struct variable_state *v = &w->variables[variable];
	struct touch t = {thread, w->done[thread], NO_OP};

	if (v->write != NO_OP)
		keep_apart(w, v->write, thread);
	if (exec_writes(e->kind)) {
		for (uint32_t i = v->reads; i != NO_OP; i = w->touches[i].next)
			keep_apart(w, i, thread);
		v->reads = NO_OP;
	} else {
		const struct touch *latest = v->reads != NO_OP ? &w->touches[v->reads] : NULL;
		if (latest && latest->thread == thread && latest->after == t.after)
			return;
		t.next = v->reads;
	}
	RD_GROW(w->touches, w->touch_capacity, w->touch_count + 1);
	w->touches[w->touch_count] = t;
	*(exec_writes(e->kind) ? &v->write : &v->reads) = (uint32_t)w->touch_count++;
}

/* ---- the walk over the line ---- */

static void begin_op(struct clash_walk *w, uint32_t op, uint32_t thread)
{
	uint32_t *row, fork = w->fork[w->x->events[w->l->ops[op]].thread];

	w->done[thread]++;
	w->last_op[thread] = op;
	if (w->done[thread] == 1 && fork != NO_OP)
		learn(w, fork, thread);
	if (w->listed && w->listed[op] && (row = own_row(w, thread)))
		merge(row, w->list_clock, w->l->threads);
}

static void end_op(struct clash_walk *w, uint32_t op, uint32_t thread)
{
	const uint32_t *row = row_at(w, thread, w->done[thread]);

	if (!w->listed || !w->listed[op])
		return;
	if (row)
		merge(w->list_clock, row, w->l->threads);
	w->list_clock[thread] = w->done[thread];
}

static void walk_line(struct clash_walk *w)
{
	const struct event_line *l = w->l;
	uint32_t op = 0;

	for (size_t k = 0; k < l->step_count && w->implied; k++) {
		uint32_t i = l->steps[k];
		const struct exec_event *e = &w->x->events[l->events[i]];
		uint32_t thread = l->thread_of[e->thread];
		if (exec_is_access(e->kind)) {
			do_access(w, e, l->variable[i], thread);
		} else if (e->kind == EXEC_ONCE_PASS && e->flags & EXEC_PART) {
			if (w->once[e->object] < w->last_op[thread] && w->done[thread])
				require(w, w->once[e->object], thread);
		} else if (op < l->op_count && l->ops[op] == l->events[i]) {
			begin_op(w, op, thread);
			if (l->wake[op] != NO_OP)
				do_wake(w, &w->x->events[l->wake[op]], op, thread);
			do_sync(w, e, op, thread);
			end_op(w, op++, thread);
		}
	}
}

static void find_posters(struct clash_walk *w)
{
	for (uint32_t i = 0; i < w->x->sems; i++)
		w->sems[i] = (struct sem_state){.last_take = NO_OP, .poster = NO_OP};
	for (uint32_t i = 0; i < w->l->op_count; i++) {
		const struct exec_event *e = &w->x->events[w->l->ops[i]];
		uint32_t *poster = e->kind == EXEC_POST ? &w->sems[e->object].poster : NULL;
		if (!poster)
			continue;
		*poster = *poster == NO_OP || *poster == e->thread ? e->thread : NO_OP - 1;
		w->sems[e->object].total++;
	}
}

static void walk_init(struct clash_walk *w)
{
	const struct exec *x = w->x = w->l->x;
	size_t threads = w->l->threads;

	w->implied = true;
	w->done = rd_xcalloc(threads + 1, sizeof *w->done);
	w->clock = rd_xcalloc(threads + 1, sizeof *w->clock);
	w->list_clock = rd_xcalloc(threads + 1, sizeof *w->list_clock);
	w->last_op = filled(threads, sizeof *w->last_op);
	w->joined = filled(threads, sizeof *w->joined);
	w->fork = filled(x->threads, sizeof *w->fork);
	w->locks = filled(x->locks, sizeof *w->locks);
	w->conds = filled(x->conds, sizeof *w->conds);
	w->once = filled(x->onces, sizeof *w->once);
	w->variables = filled(w->l->variables, sizeof *w->variables);
	w->barriers = filled(x->barriers, sizeof *w->barriers);
	w->gathered = rd_xcalloc((size_t)x->barriers + 1, sizeof *w->gathered);
	w->sems = rd_xcalloc((size_t)x->sems + 1, sizeof *w->sems);
	find_posters(w);
}

static void walk_release(struct clash_walk *w)
{
	RD_FREE_EACH(w->clock, w->l->threads, .items);
	RD_FREE_EACH(w->sems, w->x->sems, .posts);
	RD_FREE(w->done, w->clock, w->list_clock, w->last_op, w->joined, w->fork, w->locks, w->conds, w->once,
		w->variables, w->barriers, w->gathered, w->sems, w->rows, w->sections, w->nodes, w->touches);
}

void predict_clashes(const struct event_line *l, struct clashes *c)
{
	struct clash_walk w = {.l = l, .out = c};

	c->forced = rd_xcalloc((size_t)l->op_count + 1, 1);
	walk_init(&w);
	walk_line(&w);
	walk_release(&w);
}

bool predict_clashes_implied(const struct event_line *l, const uint8_t *listed)
{
	struct clash_walk w = {.l = l, .listed = listed};

	walk_init(&w);
	walk_line(&w);
	walk_release(&w);
	return w.implied;
}
