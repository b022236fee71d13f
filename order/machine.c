/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plain meaning of the events (machine.h).
 *
 * Rules: a mutex or a written rwlock has one holder, a read rwlock any number;
 * re-acquisition by the holder nests.  A thread acts after its fork and before
 * its join.  A barrier exit needs all enters of the instance.  A semaphore never
 * goes below zero.  A wake needs the notification it names to have happened; a
 * pending operation never happens.
 */
#include "order/machine.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static void *zeroed(size_t n, size_t size)
{
	return rd_xcalloc(n + 1, size);
}

static void *filled(size_t n)
{
	void *p = rd_xmalloc((n + 1) * sizeof(uint32_t));
	memset(p, 0xff, (n + 1) * sizeof(uint32_t));
	return p;
}

void machine_init(struct machine *m, const struct exec *x)
{
	*m = (struct machine){.x = x};
	m->lock_holders = zeroed(x->locks, sizeof *m->lock_holders);
	m->sem_value = zeroed(x->sems, sizeof *m->sem_value);
	for (uint32_t s = 0; s < x->sems; s++)
		m->sem_value[s] = exec_sem_initial(x, s);
	m->entered = zeroed(x->barriers, sizeof *m->entered);
	m->enters = zeroed(x->barriers, sizeof *m->enters);
	m->done = zeroed(x->count, 1);
	m->once_done = zeroed(x->onces, 1);
	m->forked = zeroed(x->threads, 1);
	m->joined = zeroed(x->threads, 1);
	m->ended = zeroed(x->threads, 1);
	m->has_fork = zeroed(x->threads, 1);
	m->last_write = filled(x->variables);
	m->waiting = filled(x->threads);
	for (size_t i = 0; i < x->count; i++) {
		if (x->events[i].kind == EXEC_ENTER)
			m->enters[x->events[i].object]++;
		else if (x->events[i].kind == EXEC_FORK)
			m->has_fork[x->events[i].object] = 1;
	}
}

void machine_release(struct machine *m)
{
	free(m->holds);
	free(m->lock_holders);
	free(m->sem_value);
	free(m->entered);
	free(m->enters);
	free(m->done);
	free(m->once_done);
	free(m->forked);
	free(m->joined);
	free(m->ended);
	free(m->has_fork);
	free(m->last_write);
	free(m->waiting);
}

const struct machine_hold *machine_find_hold(const struct machine *m, uint32_t lock, uint16_t thread)
{
	if (!m->lock_holders[lock])
		return NULL;
	for (size_t i = m->hold_count; i-- > 0;)
		if (m->holds[i].lock == lock && m->holds[i].thread == thread)
			return &m->holds[i];
	return NULL;
}

bool machine_blocked(const struct machine *m, const struct exec_event *acquire, uint16_t *holder)
{
	if (!m->lock_holders[acquire->object])
		return false;
	for (size_t i = 0; i < m->hold_count; i++) {
		const struct machine_hold *h = &m->holds[i];
		if (h->lock != acquire->object || h->thread == acquire->thread)
			continue;
		if (h->shared && acquire->kind == EXEC_RDLOCK)
			continue;
		*holder = h->thread;
		return true;
	}
	return false;
}

static const char *do_acquire(struct machine *m, const struct exec_event *e)
{
	struct machine_hold *own = (struct machine_hold *)machine_find_hold(m, e->object, e->thread);
	uint16_t holder;

	if (own) {
		own->depth++;
		return NULL;
	}
	if (machine_blocked(m, e, &holder))
		return "acquires a lock that another thread holds";
	RD_GROW(m->holds, m->hold_capacity, m->hold_count + 1);
	m->holds[m->hold_count++] = (struct machine_hold){
		.lock = e->object, .thread = e->thread, .shared = e->kind == EXEC_RDLOCK, .depth = 1};
	m->lock_holders[e->object]++;
	return NULL;
}

static const char *do_release(struct machine *m, uint32_t lock, uint16_t thread)
{
	struct machine_hold *own = (struct machine_hold *)machine_find_hold(m, lock, thread);

	if (!own)
		return "releases a lock that its thread does not hold";
	if (--own->depth)
		return NULL;
	m->lock_holders[lock]--;
	*own = m->holds[--m->hold_count];
	return NULL;
}

static const char *do_thread_event(struct machine *m, const struct exec_event *e)
{
	switch (e->kind) {
	case EXEC_FORK:
		if (m->forked[e->object])
			return "forks a thread twice";
		m->forked[e->object] = 1;
		return NULL;
	case EXEC_JOIN:
		if (m->has_fork[e->object] && !m->forked[e->object])
			return "joins a thread that is not yet forked";
		m->joined[e->object] = 1;
		return NULL;
	case EXEC_END:
		m->ended[e->thread] = 1;
		return NULL;
	default:
		return NULL;
	}
}

static const char *do_condition(struct machine *m, uint32_t index, const struct exec_event *e)
{
	switch (e->kind) {
	case EXEC_WAIT: {
		const char *why = do_release(m, e->aux, e->thread);
		if (!why)
			m->waiting[e->thread] = index;
		return why;
	}
	case EXEC_WAKE:
		if (m->waiting[e->thread] == EXEC_NONE)
			return "wakes a thread that does not wait";
		if (e->aux < EXEC_MATCH && !m->done[e->aux])
			return "wakes before it is signalled";
		m->waiting[e->thread] = EXEC_NONE;
		return NULL;
	default:
		return NULL;
	}
}

static const char *do_counted(struct machine *m, const struct exec_event *e)
{
	switch (e->kind) {
	case EXEC_ENTER:
		m->entered[e->object]++;
		return NULL;
	case EXEC_EXIT:
		return m->entered[e->object] < m->enters[e->object]
			       ? "leaves a barrier before all have entered"
			       : NULL;
	case EXEC_POST:
		m->sem_value[e->object]++;
		return NULL;
	case EXEC_TAKE:
		if (m->sem_value[e->object] <= 0)
			return "takes from a semaphore that is zero";
		m->sem_value[e->object]--;
		return NULL;
	case EXEC_ONCE_RUN:
		m->once_done[e->object] = 1;
		return NULL;
	default:
		return m->once_done[e->object] ? NULL : "passes a once control that has not run";
	}
}

const char *machine_step(struct machine *m, uint32_t index)
{
	const struct exec_event *e = &m->x->events[index];

	if (m->has_fork[e->thread] && !m->forked[e->thread])
		return "is done by a thread that is not yet forked";
	if (m->joined[e->thread])
		return "is done by a thread that is already joined";
	if (m->ended[e->thread])
		return "is done by a thread that has ended";
	if (e->flags & EXEC_PENDING)
		return NULL;
	m->done[index] = 1;
	switch (e->kind) {
	case EXEC_READ:
		return NULL;
	case EXEC_WRITE:
	case EXEC_UPDATE:
		m->last_write[e->object] = index;
		return NULL;
	case EXEC_LOCK:
	case EXEC_RDLOCK:
	case EXEC_WRLOCK:
		return do_acquire(m, e);
	case EXEC_UNLOCK:
		return do_release(m, e->object, e->thread);
	case EXEC_BUSY:
		return NULL;
	case EXEC_FORK:
	case EXEC_BEGIN:
	case EXEC_END:
	case EXEC_JOIN:
		return do_thread_event(m, e);
	case EXEC_WAIT:
	case EXEC_WAKE:
	case EXEC_SIGNAL:
	case EXEC_BROADCAST:
		return do_condition(m, index, e);
	default:
		return do_counted(m, e);
	}
}
