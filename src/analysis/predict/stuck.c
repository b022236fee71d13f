/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the deadlocks in which a program is stuck.
 *
 * The threads of the execution end in pending operations.  No search is needed, because the owner
 * graph (order/owner.h) of the state after the last event shows which threads are stuck.
 *
 * Each stuck thread points at a thread that it waits for.  Following these pointers leads into a
 * cycle or to a root.  A root is a thread that waits for a signal, a post or a barrier arrival, or
 * for a lock of a dead thread.  Each cycle is a deadlock, and so is each root together with the
 * threads that wait for its locks.  Threads that merely wait in a join for one of these are not
 * part of the deadlock.
 */
#include "predict/stuck-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "order/machine.h"
#include "order/owner.h"

#include <stdlib.h>
#include <string.h>

struct graph {
	const struct exec *x;
	struct owner_graph owners;
	struct owner_thread *threads;
	uint64_t **held; /* the locks that each thread holds, as lock_key() */
	uint32_t *stop;	 /* the pending event of each thread, or EXEC_NONE if it has none */
	uint32_t *next;	 /* for each thread, a stuck thread that it waits for */
	bool *stuck, *reported;
};

/* ---- the state after the last event ---- */

/* Returns the number of a lock in the owner graph.  The numbers of locks in this graph must be
 * even and not 0. */
static uint64_t lock_key(uint32_t lock)
{
	return 2 * ((uint64_t)lock + 1);
}

static enum owner_wait wait_of(const struct exec_event *stop)
{
	if (stop->kind == EXEC_JOIN)
		return OWNER_JOIN;
	if (!exec_acquires(stop->kind))
		return OWNER_NOTE;
	return stop->kind == EXEC_RDLOCK ? OWNER_READ : OWNER_LOCK;
}

static void add_goals(struct graph *g, const struct machine *m)
{
	for (size_t i = 0; i < m->hold_count; i++)
		g->threads[m->holds[i].thread].held_count++;
	for (uint32_t t = 0; t < g->x->threads; t++) {
		g->threads[t].held = g->held[t] = rd_xcalloc(g->threads[t].held_count + 1, sizeof(uint64_t));
		g->threads[t].held_count = 0;
	}
	for (size_t i = 0; i < m->hold_count; i++) {
		const struct machine_hold *h = &m->holds[i];

		g->held[h->thread][g->threads[h->thread].held_count++] = lock_key(h->lock) | h->shared;
	}
}

static void look_at_end(struct graph *g, const struct predict_waiters *waiters)
{
	struct machine m;

	machine_init(&m, g->x);
	for (uint32_t i = 0; i < g->x->count; i++) {
		machine_step(&m, i);
		if (g->x->events[i].flags & EXEC_PENDING)
			g->stop[g->x->events[i].thread] = i;
	}
	add_goals(g, &m);
	for (uint32_t t = 0; t < g->x->threads; t++) {
		const struct exec_event *e = g->stop[t] == EXEC_NONE ? NULL : &g->x->events[g->stop[t]];

		g->threads[t].ended = m.ended[t];
		if (!e || !waiters->waits[t])
			continue;
		g->threads[t].wait = wait_of(e);
		g->threads[t].object = e->kind == EXEC_JOIN ? e->object : lock_key(e->object);
	}
	machine_release(&m);
}

static void find_stuck(struct graph *g)
{
	owner_closed(&g->owners, g->stuck);
	for (uint32_t t = 0; t < g->x->threads; t++) {
		uint32_t owner = g->stuck[t] ? owner_of(&g->owners, g->stuck, t) : OWNER_NONE;

		g->next[t] = owner != OWNER_NONE && g->stuck[owner] ? owner : OWNER_NONE;
	}
}

/* ---- deadlocks ---- */

static void add(struct graph *g, struct predict_result *out, const uint32_t *threads, uint32_t count)
{
	RD_ASSERT(count > 0);
	const struct exec *x = g->x;
	struct predict_deadlock *l;

	RD_GROW(out->deadlocks, out->deadlock_capacity, out->deadlock_count + 1);
	l = &out->deadlocks[out->deadlock_count++];
	*l = (struct predict_deadlock){
		.count = count, .class = PREDICT_SOUND, .tier = PREDICT_RECORDED_ORDER};
	l->stops = rd_xmalloc(count * sizeof *l->stops);
	for (uint32_t i = 0; i < count; i++) {
		l->stops[i] = g->stop[threads[i]];
		g->reported[threads[i]] = 1;
	}
	l->witness.done = rd_xmalloc((x->threads + 1) * sizeof *l->witness.done);
	memset(l->witness.done, 0xff, x->threads * sizeof *l->witness.done);
	for (uint32_t i = 0; i < x->count; i++)
		if (!(x->events[i].flags & EXEC_PENDING))
			l->witness.done[x->events[i].thread] = i;
}

/* Follows the pointers that begin at `thread`.  Returns the thread at which they end, or a thread
 * of the cycle that they reach. */
static uint32_t end_of(const struct graph *g, uint32_t thread)
{
	RD_ASSERT(thread < g->x->threads);
	for (uint32_t n = 0; n <= g->x->threads && g->next[thread] != OWNER_NONE; n++)
		thread = g->next[thread];
	return thread;
}

static void add_circle(struct graph *g, struct predict_result *out, uint32_t *scratch, uint32_t thread)
{
	uint32_t count = 0, first = thread;

	do {
		scratch[count++] = thread;
		thread = g->next[thread];
	} while (thread != first);
	add(g, out, scratch, count);
}

/* Returns true if all pointers on the way from the thread to `root` are waits for locks. */
static bool is_blocked_by(const struct graph *g, uint32_t thread, uint32_t root)
{
	while (thread != root && g->next[thread] != OWNER_NONE &&
	       exec_acquires(g->x->events[g->stop[thread]].kind))
		thread = g->next[thread];
	return thread == root;
}

static bool same_barrier(const struct graph *g, uint32_t a, uint32_t b)
{
	const struct exec_event *e = &g->x->events[g->stop[a]], *f = &g->x->events[g->stop[b]];

	return e->kind == EXEC_EXIT && f->kind == EXEC_EXIT && e->object == f->object;
}

static void add_root(struct graph *g, struct predict_result *out, uint32_t *scratch, uint32_t root)
{
	uint32_t count = 0;

	scratch[count++] = root;
	for (uint32_t i = 0; i < g->x->threads; i++) {
		if (i == root || !g->stuck[i] || g->reported[i])
			continue;
		if (same_barrier(g, i, root) || (end_of(g, i) == root && is_blocked_by(g, i, root)))
			scratch[count++] = i;
	}
	add(g, out, scratch, count);
}

static void report(struct graph *g, struct predict_result *out)
{
	uint32_t *scratch = rd_xcalloc(g->x->threads + 1, sizeof *scratch);

	for (uint32_t i = 0; i < g->x->threads; i++) {
		uint32_t end = g->stuck[i] ? end_of(g, i) : OWNER_NONE;

		if (end == OWNER_NONE || g->reported[end])
			continue;
		if (g->next[end] == OWNER_NONE)
			add_root(g, out, scratch, end);
		else
			add_circle(g, out, scratch, end);
	}
	free(scratch);
}

void predict_find_stuck(const struct exec *x, const struct predict_waiters *waiters,
			struct predict_result *out)
{
	size_t threads = (size_t)x->threads + 1;
	struct graph g = {.x = x};

	g.threads = rd_xcalloc(threads, sizeof *g.threads);
	g.owners = (struct owner_graph){g.threads, x->threads, !waiters->all, OWNER_HOLDER_UNLESS_STUCK};
	g.held = rd_xcalloc(threads, sizeof *g.held);
	g.stop = rd_xmalloc(threads * sizeof *g.stop);
	memset(g.stop, 0xff, threads * sizeof *g.stop);
	g.next = rd_xcalloc(threads, sizeof *g.next);
	g.stuck = rd_xcalloc(threads, sizeof *g.stuck);
	g.reported = rd_xcalloc(threads, sizeof *g.reported);
	look_at_end(&g, waiters);
	find_stuck(&g);
	report(&g, out);
	RD_FREE_EACH(g.held, x->threads);
	RD_FREE(g.held, g.threads, g.stop, g.next, g.stuck, g.reported);
}
