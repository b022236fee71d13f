/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner graph of a program that stands still.
 *
 * In: an execution whose threads end in pending operations.  Out: deadlocks.  Nothing is searched:
 * the state is the one after the last event.  A thread is *stuck* if what it waits for is in the
 * hands of a stuck thread or of one that has ended, or if nobody is left who could give it; the
 * largest set of stuck threads is found by throwing out those that are not.
 *
 * A stuck thread points at one that it waits for.  Following these arrows leads into a circle, or
 * to a root: a thread that waits for a signal, a post or an arrival, or for a lock of a dead
 * thread.  Each circle is a deadlock, and so is each root together with those that wait for
 * its locks; threads that only join them are not part of it.
 */
#include "predict/standing.h"

#include "base/alloc.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX

struct graph {
	const struct exec *x;
	uint32_t *stop;	      /* by thread: its pending event, EXEC_NONE: none */
	uint32_t *next;	      /* by thread: a stuck one that it waits for */
	uint32_t *owner;      /* by lock */
	struct rd_umap share; /* (lock, thread) to the number of shared holds */
	uint8_t *stuck, *ended, *reported;
};

static uint64_t share_key(uint32_t lock, uint32_t thread)
{
	return (uint64_t)lock << 32 | thread;
}

static void follow(struct graph *g, uint32_t i)
{
	const struct exec_event *e = &g->x->events[i];

	if (e->flags & EXEC_PENDING) {
		g->stop[e->thread] = i;
		return;
	}
	switch (e->kind) {
	case EXEC_LOCK:
	case EXEC_WRLOCK:
		g->owner[e->object] = e->thread;
		break;
	case EXEC_RDLOCK:
		++*rd_umap_put(&g->share, share_key(e->object, e->thread), NULL);
		break;
	case EXEC_UNLOCK:
		if (g->owner[e->object] == e->thread)
			g->owner[e->object] = NOBODY;
		else
			*rd_umap_put(&g->share, share_key(e->object, e->thread), NULL) = 0;
		break;
	case EXEC_WAIT:
		g->owner[e->aux] = NOBODY;
		break;
	case EXEC_END:
		g->ended[e->thread] = 1;
		break;
	}
}

/* Whether stop `e` waits for what `thread` has. */
static bool waits_for(const struct graph *g, const struct exec_event *e, uint32_t thread)
{
	uint64_t *shares;

	if (e->kind == EXEC_JOIN)
		return e->object == thread;
	if (!exec_acquires(e->kind))
		return false;
	if (g->owner[e->object] == thread)
		return true;
	shares = e->kind == EXEC_RDLOCK ? NULL : rd_umap_get(&g->share, share_key(e->object, thread));
	return shares && *shares;
}

static bool is_owned(const struct exec_event *e)
{
	return e->kind == EXEC_JOIN || exec_acquires(e->kind);
}

/* Looks for somebody stuck, or dead with a lock, that the thread waits for. */
static bool find_next(struct graph *g, uint32_t thread)
{
	const struct exec_event *e = &g->x->events[g->stop[thread]];

	g->next[thread] = NOBODY;
	for (uint32_t i = 0; i < g->x->threads; i++) {
		if (!waits_for(g, e, i))
			continue;
		if (g->stuck[i])
			g->next[thread] = i;
		if (g->stuck[i] || (g->ended[i] && e->kind != EXEC_JOIN))
			return true;
	}
	return false;
}

static void throw_out(struct graph *g)
{
	bool again = true;

	while (again) {
		again = false;
		for (uint32_t i = 0; i < g->x->threads; i++) {
			if (!g->stuck[i] || !is_owned(&g->x->events[g->stop[i]]) || find_next(g, i))
				continue;
			g->stuck[i] = 0;
			again = true;
		}
	}
}

/* ---- deadlocks ---- */

static void add(struct graph *g, struct predict_result *out, const uint32_t *threads, uint32_t count)
{
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

/* The thread at which the arrows from `thread` end, or one of the circle they lead into. */
static uint32_t end_of(const struct graph *g, uint32_t thread)
{
	for (uint32_t n = 0; n <= g->x->threads && g->next[thread] != NOBODY; n++)
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

/* Whether the thread waits for locks only until the arrows end at `root`. */
static bool is_blocked_by(const struct graph *g, uint32_t thread, uint32_t root)
{
	while (thread != root && g->next[thread] != NOBODY &&
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
		uint32_t end = g->stuck[i] ? end_of(g, i) : NOBODY;

		if (end == NOBODY || g->reported[end])
			continue;
		if (g->next[end] == NOBODY)
			add_root(g, out, scratch, end);
		else
			add_circle(g, out, scratch, end);
	}
	free(scratch);
}

void predict_find_standing(const struct exec *x, const struct predict_standing *standing,
			   struct predict_result *out)
{
	size_t threads = (size_t)x->threads + 1, locks = (size_t)x->locks + 1;
	struct graph g = {.x = x};

	g.stop = rd_xmalloc(threads * sizeof *g.stop);
	memset(g.stop, 0xff, threads * sizeof *g.stop);
	g.next = rd_xmalloc(threads * sizeof *g.next);
	memset(g.next, 0xff, threads * sizeof *g.next);
	g.owner = rd_xmalloc(locks * sizeof *g.owner);
	memset(g.owner, 0xff, locks * sizeof *g.owner);
	g.stuck = rd_xcalloc(threads, 1);
	g.ended = rd_xcalloc(threads, 1);
	g.reported = rd_xcalloc(threads, 1);
	for (uint32_t i = 0; i < x->count; i++)
		follow(&g, i);
	for (uint32_t i = 0; i < x->threads; i++)
		g.stuck[i] = standing->waits[i] && g.stop[i] != EXEC_NONE &&
			     (standing->all || is_owned(&x->events[g.stop[i]]));
	throw_out(&g);
	report(&g, out);
	rd_umap_release(&g.share);
	free(g.stop);
	free(g.next);
	free(g.owner);
	free(g.stuck);
	free(g.ended);
	free(g.reported);
}
