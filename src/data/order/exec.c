/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds an execution, and matches wakes with signals.
 *
 * A wake is matched with the earliest signal or broadcast on its condition after its wait began.
 * A signal matches only one wake, but a broadcast matches any number of wakes.  A later signal may
 * have been the real cause, but the earlier one would have been enough.  So this choice keeps the
 * must-order, the order that holds in every run, as weak as the observations allow.
 */
#include "order/exec.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "order/machine.h"

#include <stdlib.h>
#include <string.h>

void exec_init(struct exec *x)
{
	*x = (struct exec){0};
}

void exec_release(struct exec *x)
{
	RD_FREE(x->events, x->positions, x->sem_initial);
	exec_init(x);
}

/* Returns the counter of objects for the number space that this kind of event uses. */
static uint32_t *space_of(struct exec *x, enum exec_kind kind)
{
	switch (kind) {
	case EXEC_READ:
	case EXEC_WRITE:
	case EXEC_UPDATE: return &x->variables;
	case EXEC_LOCK:
	case EXEC_RDLOCK:
	case EXEC_WRLOCK:
	case EXEC_UNLOCK:
	case EXEC_BUSY: return &x->locks;
	case EXEC_WAIT:
	case EXEC_WAKE:
	case EXEC_SIGNAL:
	case EXEC_BROADCAST: return &x->conds;
	case EXEC_ENTER:
	case EXEC_EXIT: return &x->barriers;
	case EXEC_POST:
	case EXEC_TAKE: return &x->sems;
	case EXEC_ONCE_RUN:
	case EXEC_ONCE_PASS:
	case EXEC_ONCE_BEGIN: return &x->onces;
	default: return &x->threads;
	}
}

struct exec_event *exec_add(struct exec *x, enum exec_kind kind, uint32_t thread, uint32_t object)
{
	uint32_t *space = space_of(x, kind);

	if (thread >= x->threads)
		x->threads = thread + 1;
	if (object >= *space && kind != EXEC_BEGIN && kind != EXEC_END && kind != EXEC_FREE)
		*space = object + 1;
	if (x->count == x->capacity)
		RD_GROW(x->events, x->capacity, x->count + 1);
	struct exec_event *e = &x->events[x->count++];
	*e = (struct exec_event){.kind = kind, .thread = thread, .object = object, .aux = EXEC_NONE};
	return e;
}

void exec_sem_init(struct exec *x, uint32_t sem, uint32_t value)
{
	if (sem >= x->sems)
		x->sems = sem + 1;
	if (sem >= x->sem_initial_count) {
		x->sem_initial = rd_xrealloc(x->sem_initial, (sem + 1) * sizeof *x->sem_initial);
		for (uint32_t s = x->sem_initial_count; s < sem; s++)
			x->sem_initial[s] = 0;
		x->sem_initial_count = sem + 1;
	}
	x->sem_initial[sem] = value;
}

/* The notifications of one condition in trace order. */
struct notes {
	uint32_t *events;
	size_t count, capacity;
};

static uint32_t take_notification(const struct exec *x, const struct notes *n, uint32_t since, uint8_t *taken)
{
	for (size_t i = rd_lower_bound(n->events, 0, n->count, since); i < n->count; i++) {
		uint32_t e = n->events[i];
		if (taken[e])
			continue;
		taken[e] = x->events[e].kind == EXEC_SIGNAL;
		return e;
	}
	return EXEC_NONE;
}

void exec_match_signals(struct exec *x)
{
	uint8_t *taken = rd_xcalloc(x->count + 1, 1);
	uint32_t *began = rd_xcalloc((size_t)x->threads + 1, sizeof *began);
	struct notes *notes = rd_xcalloc((size_t)x->conds + 1, sizeof *notes);

	for (uint32_t i = 0; i < x->count; i++) {
		struct exec_event *e = &x->events[i];
		if (e->kind == EXEC_WAKE && e->aux < EXEC_MATCH)
			taken[e->aux] = x->events[e->aux].kind == EXEC_SIGNAL;
	}
	for (uint32_t i = 0; i < x->count; i++) {
		struct exec_event *e = &x->events[i];
		if (e->kind == EXEC_WAIT) {
			began[e->thread] = i;
		} else if (e->kind == EXEC_SIGNAL || e->kind == EXEC_BROADCAST) {
			struct notes *n = &notes[e->object];
			RD_GROW(n->events, n->capacity, n->count + 1);
			n->events[n->count++] = i;
		} else if (e->kind == EXEC_WAKE && e->aux == EXEC_MATCH) {
			e->aux = e->flags & EXEC_PENDING
					 ? EXEC_NONE
					 : take_notification(x, &notes[e->object], began[e->thread], taken);
		}
	}
	RD_FREE_EACH(notes, x->conds, .events);
	RD_FREE(notes, began, taken);
}

uint32_t exec_check(const struct exec *x, const char **why)
{
	struct machine m;
	uint32_t bad = EXEC_NONE;

	machine_init(&m, x);
	for (uint32_t i = 0; i < x->count && bad == EXEC_NONE; i++) {
		*why = machine_step(&m, i);
		if (*why)
			bad = i;
	}
	machine_release(&m);
	return bad;
}

uint32_t exec_holder(const struct exec *x, uint32_t lock)
{
	RD_ASSERT(lock < x->locks);
	struct machine m;
	uint32_t holder = EXEC_NONE;

	machine_init(&m, x);
	for (uint32_t i = 0; i < x->count; i++)
		machine_step(&m, i);
	for (size_t i = 0; i < m.hold_count; i++)
		if (m.holds[i].lock == lock)
			holder = m.holds[i].thread;
	machine_release(&m);
	return holder;
}
