/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements the meaning of the events (machine.h), according to the table in doc/design/order.md.
 *
 * The rules are:
 *
 *   - A mutex, or a read-write lock held for writing, has one holder.  A read-write lock held for
 *     reading has any number of holders.  If a holder acquires the lock again, the acquisitions
 *     nest.
 *   - The events of a thread come after its fork and before its join.
 *   - A barrier exit needs all entries of the barrier instance.
 *   - A semaphore never goes below zero.
 *   - A wake, the end of a condition wait, needs the notification that it names.  In a whole
 *     execution, it needs its mutex and any notification that came after the wait and ended no
 *     other wait.
 *   - A pending operation never happens.
 */
#include "order/machine.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static void *zeroed(size_t n, size_t size)
{
	return rd_xcalloc(n + 1, size);
}

static void fill_none(uint32_t *p, size_t n)
{
	memset(p, 0xff, (n + 1) * sizeof *p);
}

void machine_init(struct machine *m, const struct exec *x)
{
	*m = (struct machine){.x = x};
	m->lock_holders = zeroed(x->locks, sizeof *m->lock_holders);
	m->sem_value = zeroed(x->sems, sizeof *m->sem_value);
	m->entered = zeroed(x->barriers, sizeof *m->entered);
	m->enters = zeroed(x->barriers, sizeof *m->enters);
	m->at = zeroed(x->threads, sizeof *m->at);
	m->once_done = zeroed(x->onces, 1);
	m->forked = zeroed(x->threads, 1);
	m->joined = zeroed(x->threads, 1);
	m->ended = zeroed(x->threads, 1);
	m->has_fork = zeroed(x->threads, 1);
	m->woken = zeroed(x->threads, 1);
	m->deadline = zeroed(x->threads, sizeof *m->deadline);
	m->last_write = zeroed(x->variables, sizeof *m->last_write);
	m->waiting = zeroed(x->threads, sizeof *m->waiting);
	for (size_t i = 0; i < x->count; i++) {
		if (x->events[i].kind == EXEC_ENTER)
			m->enters[x->events[i].object]++;
		else if (x->events[i].kind == EXEC_FORK)
			m->has_fork[x->events[i].object] = 1;
	}
	machine_reset(m, NULL, 0);
}

/* Stores, for each wait, the position in the order at which it ends. */
static void look_ahead(struct machine *m, const uint32_t *order, size_t count)
{
	uint32_t *wait = zeroed(m->x->threads, sizeof *wait);

	fill_none(wait, m->x->threads);
	for (size_t i = 0; i < count; i++) {
		const struct exec_event *e = &m->x->events[order[i]];

		if (e->kind == EXEC_WAIT)
			wait[e->thread] = order[i];
		else if (e->kind == EXEC_WAKE && wait[e->thread] != EXEC_NONE)
			/* A timed wait that ends because its time is up is not woken by a
			 * notification. */
			*rd_umap_put(&m->wakes, wait[e->thread], NULL) = e->aux == EXEC_NONE ? UINT64_MAX : i;
	}
	free(wait);
}

void machine_reset(struct machine *m, const uint32_t *order, size_t count)
{
	const struct exec *x = m->x;

	m->hold_count = 0;
	memset(m->lock_holders, 0, x->locks * sizeof *m->lock_holders);
	memset(m->entered, 0, x->barriers * sizeof *m->entered);
	memset(m->at, 0, x->threads * sizeof *m->at);
	memset(m->once_done, 0, x->onces);
	memset(m->forked, 0, x->threads);
	memset(m->joined, 0, x->threads);
	memset(m->ended, 0, x->threads);
	memset(m->woken, 0, x->threads);
	fill_none(m->last_write, x->variables);
	fill_none(m->waiting, x->threads);
	for (uint32_t s = 0; s < x->sems; s++)
		m->sem_value[s] = exec_sem_initial(x, s);
	if (x->whole && x->conds) {
		rd_umap_release(&m->wakes);
		look_ahead(m, order, count);
	}
}

void machine_release(struct machine *m)
{
	RD_FREE(m->holds, m->lock_holders, m->sem_value, m->entered, m->enters, m->at, m->once_done,
		m->forked, m->joined, m->ended, m->has_fork, m->woken, m->deadline, m->last_write,
		m->waiting);
	rd_umap_release(&m->wakes);
}

/* ---- locks ---- */

const struct machine_hold *machine_find_hold(const struct machine *m, uint32_t lock, uint16_t thread)
{
	if (!m->lock_holders[lock])
		return NULL;
	for (size_t i = m->hold_count; i-- > 0;)
		if (m->holds[i].lock == lock && m->holds[i].thread == thread)
			return &m->holds[i];
	return NULL;
}

/* Finds an acquisition by another thread that keeps `thread` from acquiring the lock. */
static uint32_t find_rival(const struct machine *m, uint32_t lock, uint16_t thread, bool shared)
{
	if (!m->lock_holders[lock])
		return EXEC_NONE;
	for (size_t i = 0; i < m->hold_count; i++) {
		const struct machine_hold *h = &m->holds[i];

		if (h->lock == lock && h->thread != thread && !(h->shared && shared))
			return h->acquire;
	}
	return EXEC_NONE;
}

/* Returns the mutex that a wake of a whole execution acquires again. */
static uint32_t mutex_of(const struct machine *m, const struct exec_event *wake)
{
	uint32_t wait = m->x->whole ? m->waiting[wake->thread] : EXEC_NONE;

	return wait == EXEC_NONE ? EXEC_NONE : m->x->events[wait].aux;
}

uint32_t machine_blocker(const struct machine *m, uint32_t index)
{
	const struct exec_event *e = &m->x->events[index];
	uint32_t lock = exec_acquires(e->kind) ? e->object : EXEC_NONE;

	if (e->kind == EXEC_WAKE)
		lock = mutex_of(m, e);
	if (lock == EXEC_NONE || machine_find_hold(m, lock, e->thread))
		return EXEC_NONE;
	return find_rival(m, lock, e->thread, e->kind == EXEC_RDLOCK);
}

static void acquire(struct machine *m, uint32_t index, uint32_t lock)
{
	const struct exec_event *e = &m->x->events[index];
	struct machine_hold *own = (struct machine_hold *)machine_find_hold(m, lock, e->thread);

	if (own) {
		own->depth++;
		return;
	}
	RD_GROW(m->holds, m->hold_capacity, m->hold_count + 1);
	m->holds[m->hold_count++] = (struct machine_hold){.lock = lock,
							  .thread = e->thread,
							  .shared = e->kind == EXEC_RDLOCK,
							  .depth = 1,
							  .acquire = index};
	m->lock_holders[lock]++;
}

static void release(struct machine *m, uint32_t lock, uint16_t thread)
{
	struct machine_hold *own = (struct machine_hold *)machine_find_hold(m, lock, thread);

	if (!own || --own->depth)
		return;
	m->lock_holders[lock]--;
	*own = m->holds[--m->hold_count];
}

static const char *may_release(const struct machine *m, uint32_t lock, uint16_t thread)
{
	return machine_find_hold(m, lock, thread) ? NULL : "releases a lock that its thread does not hold";
}

/* ---- conditions of events ---- */

static bool is_done(const struct machine *m, uint32_t event)
{
	return event >= EXEC_MATCH || m->at[m->x->events[event].thread] > event;
}

static const char *may_wake(const struct machine *m, uint32_t index, const struct exec_event *e)
{
	if (m->waiting[e->thread] == EXEC_NONE)
		return "wakes a thread that does not wait";
	if (m->x->whole ? e->aux != EXEC_NONE && !m->woken[e->thread] : !is_done(m, e->aux))
		return "wakes before it is signalled";
	return machine_blocker(m, index) == EXEC_NONE ? NULL : "wakes while another thread holds its mutex";
}

static const char *may_thread(const struct machine *m, const struct exec_event *e)
{
	if (m->has_fork[e->thread] && !m->forked[e->thread])
		return "is done by a thread that is not yet forked";
	if (m->x->whole)
		return NULL;
	if (m->joined[e->thread])
		return "is done by a thread that is already joined";
	return m->ended[e->thread] ? "is done by a thread that has ended" : NULL;
}

static const char *may_pass(const struct machine *m, const struct exec_event *e)
{
	bool done = m->x->whole ? is_done(m, e->aux) : m->once_done[e->object];

	return done ? NULL : "passes a once control that has not run";
}

const char *machine_may(const struct machine *m, uint32_t index)
{
	RD_ASSERT(index < m->x->count);
	const struct exec_event *e = &m->x->events[index];
	const char *why = may_thread(m, e);

	if (why || e->flags & EXEC_PENDING)
		return why;
	switch (e->kind) {
	case EXEC_LOCK:
	case EXEC_RDLOCK:
	case EXEC_WRLOCK:
		return machine_blocker(m, index) == EXEC_NONE ? NULL
							      : "acquires a lock that another thread holds";
	case EXEC_UNLOCK: return may_release(m, e->object, e->thread);
	case EXEC_WAIT: return e->aux == EXEC_NONE ? NULL : may_release(m, e->aux, e->thread);
	case EXEC_WAKE: return may_wake(m, index, e);
	case EXEC_FORK: return m->forked[e->object] ? "forks a thread twice" : NULL;
	case EXEC_JOIN:
		if (m->has_fork[e->object] && !m->forked[e->object])
			return "joins a thread that is not yet forked";
		return is_done(m, e->aux) ? NULL : "joins a thread that has not ended";
	case EXEC_EXIT:
		return m->entered[e->object] < m->enters[e->object]
			       ? "leaves a barrier before all have entered"
			       : NULL;
	case EXEC_TAKE: return m->sem_value[e->object] > 0 ? NULL : "takes from a semaphore that is zero";
	case EXEC_ONCE_BEGIN:
	case EXEC_ONCE_PASS: return may_pass(m, e);
	default: return NULL;
	}
}

/* ---- effects of events ---- */

static void wait(struct machine *m, uint32_t index, const struct exec_event *e)
{
	const uint64_t *wake = rd_umap_get(&m->wakes, index);

	if (e->aux != EXEC_NONE)
		release(m, e->aux, e->thread);
	m->waiting[e->thread] = index;
	m->woken[e->thread] = 0;
	m->deadline[e->thread] = wake ? *wake : UINT64_MAX;
}

static void wake(struct machine *m, uint32_t index, const struct exec_event *e)
{
	uint32_t mutex = mutex_of(m, e);

	m->waiting[e->thread] = EXEC_NONE;
	if (mutex != EXEC_NONE)
		acquire(m, index, mutex);
}

/* Notifies waiting threads.  A signal wakes the waiting thread whose wake comes first in the
 * order. */
static void notify(struct machine *m, const struct exec_event *e)
{
	uint32_t best = EXEC_NONE;

	for (uint32_t t = 0; t < m->x->threads && m->x->whole; t++) {
		if (m->waiting[t] == EXEC_NONE || m->woken[t] ||
		    m->x->events[m->waiting[t]].object != e->object)
			continue;
		if (e->kind == EXEC_BROADCAST)
			m->woken[t] = 1;
		else if (best == EXEC_NONE || m->deadline[t] < m->deadline[best])
			best = t;
	}
	if (best != EXEC_NONE)
		m->woken[best] = 1;
}

void machine_do(struct machine *m, uint32_t index)
{
	RD_ASSERT(index < m->x->count);
	const struct exec_event *e = &m->x->events[index];

	if (e->flags & EXEC_PENDING)
		return;
	m->at[e->thread] = index + 1;
	switch (e->kind) {
	case EXEC_WRITE:
	case EXEC_UPDATE: m->last_write[e->object] = index; break;
	case EXEC_LOCK:
	case EXEC_RDLOCK:
	case EXEC_WRLOCK: acquire(m, index, e->object); break;
	case EXEC_UNLOCK: release(m, e->object, e->thread); break;
	case EXEC_WAIT: wait(m, index, e); break;
	case EXEC_WAKE: wake(m, index, e); break;
	case EXEC_SIGNAL:
	case EXEC_BROADCAST: notify(m, e); break;
	case EXEC_FORK: m->forked[e->object] = 1; break;
	case EXEC_JOIN: m->joined[e->object] = 1; break;
	case EXEC_END: m->ended[e->thread] = 1; break;
	case EXEC_ENTER: m->entered[e->object]++; break;
	case EXEC_POST:
	case EXEC_TAKE: m->sem_value[e->object] += e->kind == EXEC_POST ? 1 : -1; break;
	case EXEC_ONCE_RUN: m->once_done[e->object] = 1; break;
	default: break;
	}
}

const char *machine_step(struct machine *m, uint32_t index)
{
	const char *why = machine_may(m, index);

	if (!why)
		machine_do(m, index);
	return why;
}
