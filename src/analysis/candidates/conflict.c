/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether two instances of accesses that touch the same bytes may race
 * (candidates/conflict-int.h). */
#include "candidates/conflict-int.h"

#include "base/error.h"

static uint64_t bit(uint32_t thread)
{
	RD_ASSERT(thread < THREADS_MAX);
	return UINT64_C(1) << thread;
}

/* Returns true if thread a starts thread b, directly or indirectly. */
static bool starts(const struct access_walk *w, uint32_t a, uint32_t b)
{
	return a == 0 || w->flow.effects[w->threads->items[a].function].started & bit(b);
}

static bool at_the_same_time(const struct access_walk *w, const struct instance *x, const struct instance *y)
{
	bool y_in_x = x->alive & bit(y->thread), x_in_y = y->alive & bit(x->thread);
	if (x->thread == y->thread)
		return w->threads->items[x->thread].many && (y_in_x || x_in_y);
	/* If one thread starts the other, the starting thread exists first.  Then each of the two
	 * accesses must be possible while the other thread is alive.  Otherwise either thread may
	 * exist first, so it is enough if one of the accesses is possible while the other thread
	 * is alive. */
	if (starts(w, x->thread, y->thread) != starts(w, y->thread, x->thread))
		return y_in_x && x_in_y;
	return y_in_x || x_in_y;
}

/* Returns true if the two instances access different memory, or can never run at the same time. */
static bool is_kept_apart(const struct instance *x, const struct instance *y)
{
	if (x->thread == y->thread && x->own && y->own)
		return true;
	return (x->apart & bit(y->thread) && y->own) || (y->apart & bit(x->thread) && x->own) ||
	       (x->direct && y->direct);
}

static bool is_atomic(const struct access *a)
{
	return a->use || a->flags & FACTS_ACCESS_ATOMIC;
}

bool conflict_may_race(const struct access_walk *w, const struct instance *x, const struct instance *y)
{
	RD_ASSERT(x->thread < w->threads->count && y->thread < w->threads->count);
	const struct access *a = &w->p->accesses[x->access], *b = &w->p->accesses[y->access];
	if ((a->kind == FACTS_READ && b->kind == FACTS_READ) || (is_atomic(a) && is_atomic(b)) ||
	    a->flags & b->flags & FACTS_ACCESS_THREAD_LOCAL)
		return false;
	return at_the_same_time(w, x, y) && !is_kept_apart(x, y) &&
	       !guards_exclude(w->locks, x->guards, y->guards);
}

size_t conflict_kind(const struct access_walk *w, const struct instance *x,
		     uint32_t numbers[CONFLICT_NUMBERS])
{
	const struct access *a = &w->p->accesses[x->access];
	size_t n = 0;
	numbers[n++] = a->kind;
	numbers[n++] = (uint32_t)is_atomic(a) | (uint32_t)x->own << 1 | (uint32_t)x->direct << 2 |
		       (uint32_t)(x->held != 0) << 3;
	numbers[n++] = a->flags & FACTS_ACCESS_THREAD_LOCAL;
	numbers[n++] = x->thread;
	numbers[n++] = (uint32_t)x->alive;
	numbers[n++] = (uint32_t)(x->alive >> 32);
	numbers[n++] = (uint32_t)x->apart;
	numbers[n++] = (uint32_t)(x->apart >> 32);
	numbers[n++] = x->guards;
	return n;
}
