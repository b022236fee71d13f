// SPDX-License-Identifier: Apache-2.0
/*
 * Finds out which thread waits for which on a board.  In: a board.  Out: what the owner graph shows
 * (order/owner.h).  A thread that is stopped at a gate is treated as alive, because without the
 * replay it would continue.  So a block that Raddle caused is never called a deadlock.
 */
#include "replay/graph-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "order/owner.h"
#include "raddle/event.h"

#include <stdlib.h>

_Static_assert(OWNER_NONE == RADDLE_STEER_NONE, "threads of a board are threads of its graph");

/* Returns true if input from outside, or a signal, may wake the thread. */
static bool is_open(const struct board *b, const struct board_row *r)
{
	if (r->state == RADDLE_SLOT_BLOCKED && raddle_class(r->kind) != RADDLE_CLASS_CHANNEL)
		return r->timed || raddle_is_limited(r->kind);
	return !r->own || b->catches;
}

/* Returns how the thread waits.  After a wake-up, a condition wait waits for its mutex.  If the
 * program has signal handlers, a wait for a semaphore counts as running, because a handler may post
 * the semaphore. */
static enum owner_wait wait_of(const struct board *b, const struct owner_graph *g, const struct board_row *r)
{
	if (is_open(b, r))
		return OWNER_RUNNING;
	if (r->own)
		return OWNER_NOTE;
	if (raddle_is_cond_wait(r->kind))
		return owner_is_held(g, r->object) ? OWNER_LOCK : OWNER_NOTE;
	switch (raddle_role(r->kind)) {
	case RADDLE_ROLE_SHARE: return OWNER_READ;
	case RADDLE_ROLE_JOIN: return OWNER_JOIN;
	case RADDLE_ROLE_WAIT:
	case RADDLE_ROLE_WAKE:
	case RADDLE_ROLE_PASS: return OWNER_NOTE;
	case RADDLE_ROLE_ACQUIRE:
		if (raddle_is_lock(r->kind))
			return OWNER_LOCK;
		return raddle_class(r->kind) == RADDLE_CLASS_SEM && b->catches ? OWNER_RUNNING : OWNER_NOTE;
	default: return OWNER_RUNNING;
	}
}

/* Makes the graph of the board.  The caller frees the returned array, whose entries point into the
 * board. */
static struct owner_thread *make(struct owner_graph *g, const struct board *b)
{
	struct owner_thread *threads = rd_xcalloc(b->count + 1, sizeof *threads);

	*g = (struct owner_graph){threads, b->count, b->strangers || b->others,
				  b->handed ? OWNER_ANY_THREAD : OWNER_HOLDER};
	for (size_t i = 0; i < b->count; i++) {
		const struct board_row *r = &b->rows[i];

		threads[i] = (struct owner_thread){.object = r->object,
						   .alive = board_is_alive(r),
						   .ended = r->state == RADDLE_SLOT_ENDED,
						   .held = r->held};
		threads[i].held_count = r->state == RADDLE_SLOT_UNUSED ? 0 : r->held_count;
	}
	for (size_t i = 0; i < b->count; i++)
		threads[i].wait = wait_of(b, g, &b->rows[i]);
	return threads;
}

size_t graph_closed(const struct board *b, bool *closed)
{
	struct owner_graph g;
	struct owner_thread *threads = make(&g, b);
	size_t count = owner_closed(&g, closed);

	free(threads);
	return count;
}

uint32_t graph_owner(const struct board *b, const bool *closed, uint32_t number)
{
	RD_ASSERT(number < b->count);
	struct owner_graph g;
	struct owner_thread *threads = make(&g, b);
	uint32_t owner = owner_of(&g, closed, number);

	free(threads);
	return owner;
}

void graph_core(const struct board *b, const bool *closed, bool *core)
{
	RD_ASSERT(closed != NULL && core != NULL);
	struct owner_graph g;
	struct owner_thread *threads = make(&g, b);

	owner_causes(&g, closed, core);
	free(threads);
}
