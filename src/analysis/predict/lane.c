// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the threads that share a lane (lane-int.h).  It reads an execution, and assigns a lane to
 * each thread.
 *
 * One walk in recorded order suffices.  Each thread has a list of free lanes.  These are the lanes
 * of the threads that it has joined, and the lanes that were free for those threads.  A thread that
 * it creates takes one of them.  A lane is not reused if its thread ended while holding a lock,
 * waits forever, or began before the execution (in windows).
 */
#include "predict/lane-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

struct lanes {
	const struct exec *x;
	/* The first and last event of each thread, or EXEC_NONE if it has no events. */
	uint32_t *first, *last;
	int64_t *held;	       /* the number of locks that each thread holds */
	uint8_t *bound;	       /* for each thread, true if its lane must not be reused */
	uint32_t *free, *tail; /* the list of free lanes of each thread */
	uint32_t *next;	       /* for each lane, the next lane in the same list */
	uint16_t *of;
	uint32_t count;
};

static uint32_t *unset(size_t n)
{
	uint32_t *p = rd_xmalloc((n + 1) * sizeof *p);

	memset(p, 0xff, (n + 1) * sizeof *p);
	return p;
}

static void look_at_all(struct lanes *l)
{
	for (uint32_t i = 0; i < l->x->count; i++) {
		const struct exec_event *e = &l->x->events[i];
		if (l->first[e->thread] == EXEC_NONE)
			l->first[e->thread] = i;
		l->last[e->thread] = i;
		l->bound[e->thread] |= (e->flags & (EXEC_INITIAL | EXEC_PENDING)) != 0;
	}
}

static void enter(struct lanes *l, uint32_t thread, uint32_t lane)
{
	RD_ASSERT(thread < l->x->threads);
	l->of[thread] = (uint16_t)lane;
}

static void create(struct lanes *l, uint32_t i, const struct exec_event *e)
{
	RD_ASSERT(e->kind == EXEC_FORK);
	uint32_t lane = l->free[e->thread];
	bool later = l->first[e->object] != EXEC_NONE && l->first[e->object] > i;

	if (lane == EXEC_NONE || !later || l->bound[e->object])
		return;
	l->free[e->thread] = l->next[lane];
	enter(l, e->object, lane);
}

/* Passes a list of free lanes to a thread. */
static void give(struct lanes *l, uint32_t to, uint32_t first, uint32_t last)
{
	l->next[last] = l->free[to];
	if (l->free[to] == EXEC_NONE)
		l->tail[to] = last;
	l->free[to] = first;
}

static void join(struct lanes *l, uint32_t i, const struct exec_event *e)
{
	RD_ASSERT(e->kind == EXEC_JOIN);
	uint32_t other = e->object;

	if (e->flags & EXEC_PENDING || l->first[other] == EXEC_NONE || l->last[other] > i || l->bound[other])
		return;
	l->bound[other] = 1; /* the lane is passed on only once */
	if (l->free[other] != EXEC_NONE)
		give(l, e->thread, l->free[other], l->tail[other]);
	l->free[other] = EXEC_NONE;
	if (!l->held[other])
		give(l, e->thread, l->of[other], l->of[other]);
}

static void take_event(struct lanes *l, uint32_t i)
{
	const struct exec_event *e = &l->x->events[i];

	if (l->of[e->thread] == UINT16_MAX)
		enter(l, e->thread, l->count++);
	if (exec_acquires(e->kind))
		l->held[e->thread]++;
	else if (e->kind == EXEC_UNLOCK || e->kind == EXEC_WAIT)
		l->held[e->thread]--;
	else if (e->kind == EXEC_FORK)
		create(l, i, e);
	else if (e->kind == EXEC_JOIN)
		join(l, i, e);
}

/* Numbers the lanes by their first threads, so that threads that share nothing keep their order. */
static void number(struct lanes *l)
{
	uint32_t *numbers = unset(l->count), n = 0;

	for (uint32_t t = 0; t < l->x->threads; t++) {
		if (numbers[l->of[t]] == EXEC_NONE)
			numbers[l->of[t]] = n++;
		l->of[t] = (uint16_t)numbers[l->of[t]];
	}
	free(numbers);
}

uint16_t *predict_lanes(const struct exec *x, uint32_t *count)
{
	struct lanes l = {.x = x};
	size_t n = (size_t)x->threads + 1;

	l.first = unset(n);
	l.last = unset(n);
	l.free = unset(n);
	l.tail = unset(n);
	l.next = unset(n);
	l.held = rd_xcalloc(n, sizeof *l.held);
	l.bound = rd_xcalloc(n, 1);
	l.of = rd_xmalloc(n * sizeof *l.of);
	memset(l.of, 0xff, n * sizeof *l.of);
	look_at_all(&l);
	for (uint32_t i = 0; i < x->count; i++)
		take_event(&l, i);
	/* True if there are threads without events.  They all share one lane.  Such threads may
	 * still be joined. */
	bool idle = false;
	for (uint32_t t = 0; t < x->threads; t++) {
		if (l.of[t] != UINT16_MAX)
			continue;
		enter(&l, t, l.count);
		idle = true;
	}
	l.count += idle;
	number(&l);
	RD_FREE(l.first, l.last, l.free, l.tail, l.next, l.held, l.bound);
	*count = l.count;
	return l.of;
}
