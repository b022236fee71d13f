// SPDX-License-Identifier: Apache-2.0
/*
 * Implements the owner graph.  From what each thread waits for and holds, it computes the largest
 * set of waiting threads that no thread outside the set can release.
 *
 * The set starts with all waiting threads.  Then threads that may continue are removed until
 * nothing changes.  A thread may continue in three cases: no thread in the set holds the lock that
 * it waits for; the thread that it joins is not in the set; or it waits for a notification and
 * some thread outside the set is alive.  An unknown holder may still release its lock, but a
 * holder that has ended never does.  If the program releases locks from threads other than the
 * holder, any thread outside the set that is alive may release one.
 */
#include "order/owner.h"

#include "base/error.h"

static bool holds(const struct owner_thread *t, uint64_t lock, bool *shared)
{
	for (size_t i = 0; i < t->held_count && lock; i++) {
		if ((t->held[i] & ~1ull) == lock) {
			*shared = t->held[i] & 1;
			return true;
		}
	}
	return false;
}

bool owner_is_held(const struct owner_graph *g, uint64_t lock)
{
	bool shared;

	for (size_t i = 0; i < g->count; i++)
		if (holds(&g->threads[i], lock, &shared))
			return true;
	return false;
}

/* Returns true if some holder will never release the lock. */
static bool is_kept(const struct owner_graph *g, const bool *closed, uint64_t lock, bool exclusive_only)
{
	bool shared;

	for (size_t i = 0; i < g->count; i++)
		if ((closed[i] || g->threads[i].ended) && holds(&g->threads[i], lock, &shared) &&
		    !(shared && exclusive_only))
			return true;
	return false;
}

/* Returns true if a writer of the set waits for the lock.  In that case, the lock may admit readers
 * only after that writer has had it. */
static bool has_writer_in_wait(const struct owner_graph *g, const bool *closed, uint64_t lock)
{
	for (size_t i = 0; i < g->count; i++)
		if (closed[i] && g->threads[i].wait == OWNER_LOCK && g->threads[i].object == lock)
			return true;
	return false;
}

static bool is_thread_left(const struct owner_graph *g, const bool *closed)
{
	for (size_t i = 0; i < g->count; i++)
		if (g->threads[i].alive && !closed[i])
			return true;
	return g->helped;
}

/* Returns true if a thread that does not hold the lock may release it.  `t` is a thread that waits
 * for the lock. */
static bool may_be_handed(const struct owner_graph *g, const bool *closed, const struct owner_thread *t)
{
	bool shared;

	if (g->hands == OWNER_HOLDER)
		return false;
	if (g->hands == OWNER_HOLDER_UNLESS_STUCK && (!holds(t, t->object, &shared) || shared))
		return false;
	return is_thread_left(g, closed);
}

static bool stays(const struct owner_graph *g, const bool *closed, const struct owner_thread *t)
{
	switch (t->wait) {
	case OWNER_LOCK: return is_kept(g, closed, t->object, false) && !may_be_handed(g, closed, t);
	case OWNER_READ:
		return is_kept(g, closed, t->object, true) ||
		       (is_kept(g, closed, t->object, false) && has_writer_in_wait(g, closed, t->object));
	case OWNER_JOIN: return t->object < g->count && closed[t->object];
	case OWNER_NOTE: return !is_thread_left(g, closed);
	case OWNER_RUNNING: break;
	}
	return false;
}

size_t owner_closed(const struct owner_graph *g, bool *closed)
{
	size_t count = 0;
	bool again = true;

	for (size_t i = 0; i < g->count; i++)
		count += closed[i] = g->threads[i].wait != OWNER_RUNNING;
	while (again && count) {
		again = false;
		for (size_t i = 0; i < g->count; i++) {
			if (!closed[i] || stays(g, closed, &g->threads[i]))
				continue;
			closed[i] = false;
			count--;
			again = true;
		}
	}
	return count;
}

/* Returns how certain it is that a thread never releases its locks.  A larger number is more
 * certain. */
static int keeps(const struct owner_graph *g, const bool *closed, uint32_t thread)
{
	return closed[thread] ? 2 : g->threads[thread].ended;
}

uint32_t owner_of(const struct owner_graph *g, const bool *closed, uint32_t thread)
{
	RD_ASSERT(thread < g->count);
	const struct owner_thread *t = &g->threads[thread];
	uint32_t found = OWNER_NONE;
	bool shared;

	if (t->wait == OWNER_JOIN)
		return t->object < g->count ? (uint32_t)t->object : OWNER_NONE;
	if (t->wait != OWNER_LOCK && t->wait != OWNER_READ)
		return OWNER_NONE;
	for (uint32_t i = 0; i < g->count; i++) {
		if (!holds(&g->threads[i], t->object, &shared))
			continue;
		if (found == OWNER_NONE || (closed && keeps(g, closed, i) > keeps(g, closed, found)))
			found = i;
	}
	return found;
}

/* Returns true if following owners leads back to the thread.  Each thread has one owner, so the
 * number of steps is bounded. */
static bool is_on_cycle(const struct owner_graph *g, const bool *closed, uint32_t thread)
{
	uint32_t at = owner_of(g, closed, thread);

	for (size_t steps = 0; at != OWNER_NONE && steps <= g->count; steps++) {
		if (at == thread)
			return true;
		at = owner_of(g, closed, at);
	}
	return false;
}

/* Marks the threads on a cycle of owners, and those whose owner has ended or whose wait has no
 * owner. */
void owner_causes(const struct owner_graph *g, const bool *closed, bool *cause)
{
	for (uint32_t i = 0; i < g->count; i++) {
		uint32_t owner = closed[i] ? owner_of(g, closed, i) : OWNER_NONE;

		cause[i] = closed[i] && (owner == OWNER_NONE || !closed[owner] || is_on_cycle(g, closed, i));
	}
}
