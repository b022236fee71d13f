// SPDX-License-Identifier: Apache-2.0
/*
 * Determines what remains of a thread's operations before a part of the run.  It receives the
 * thread's operations so far, of which all but the last have been processed, and removes those that
 * no longer have an effect.
 *
 * Finished critical sections, finished waits, and operations that order nothing later on are
 * removed.  Operations that create or end threads, wait, post or notify are kept.  So are
 * acquisitions of locks that are still held.  An operation is processed when the next one arrives,
 * because until then the accesses after it belong to the part.  So a thread that spins, or acquires
 * a lock again and again, keeps few operations before a part, however long it ran.
 */
#include "model/model-int.h"

#include "base/error.h"
#include "trace/event.h"

#include <string.h>

/* The number of kept operations that are searched for the acquisition of a lock.  Set by hand. */
#define SECTION_DEPTH_MAX 16

static int effect(const struct model_operation *op)
{
	return trace_lock_effect(op->kind, op->value);
}

/* Returns true if the operation has no lasting effect. */
static bool is_idle(const struct model_operation *op)
{
	enum raddle_role role = raddle_role(op->kind);

	switch (raddle_class(op->kind)) {
	case RADDLE_CLASS_MEMORY: return true;
	case RADDLE_CLASS_ACCESS: return true;
	case RADDLE_CLASS_OUTSIDE: return true;
	case RADDLE_CLASS_MUTEX:
	case RADDLE_CLASS_RWLOCK:
	case RADDLE_CLASS_SPIN: return !effect(op);
	/* A message sent before the part is not kept, because it may already have been received. */
	case RADDLE_CLASS_CHANNEL: return true;
	case RADDLE_CLASS_COND: return role == RADDLE_ROLE_INIT || role == RADDLE_ROLE_DESTROY;
	default: return role == RADDLE_ROLE_REQUEST || op->kind == RADDLE_ORDER;
	}
}

/* Returns the index of the lock's acquisition among the last SECTION_DEPTH_MAX operations before
 * number `end`.  Returns `end` if it is not found. */
static size_t find_taken(const struct model_history *h, uint32_t sync, size_t end)
{
	RD_ASSERT(end <= h->operation_count);
	for (size_t i = end;
	     i-- > 0 && end - i <= SECTION_DEPTH_MAX && !raddle_is_cond_wait(h->operations[i].kind);)
		if (h->operations[i].sync == sync && effect(&h->operations[i]))
			return effect(&h->operations[i]) > 0 ? i : end;
	return end;
}

static void remove_at(struct model_history *h, size_t i)
{
	RD_ASSERT(i < h->operation_count);
	h->operation_count--;
	memmove(&h->operations[i], &h->operations[i + 1], (h->operation_count - i) * sizeof *h->operations);
}

/* Removes a critical section that has ended. */
static void end_section(struct model_history *h, const struct model_operation *release)
{
	size_t last = h->operation_count - 1, taken = find_taken(h, release->sync, last);

	if (taken == last)
		return;
	h->operation_count--;
	remove_at(h, taken);
}

/* Handles the end of a wait.  The mutex was released and acquired again, so it has been held since
 * the wake. */
static void end_wait(struct model_history *h, const struct model_operation *wake)
{
	size_t last = h->operation_count - 1, taken = find_taken(h, wake->second, last - 1);
	struct model_operation lock = h->operations[taken];

	if (taken == last - 1 || wake[-1].kind != RADDLE_COND_WAIT || wake[-1].sync != wake->sync)
		return;
	lock.q = wake->q;
	lock.t = wake->t;
	lock.counted = wake->counted;
	h->operation_count -= 2;
	remove_at(h, taken);
	h->operations[h->operation_count++] = lock;
}

/* Keeps a fence.  All that matters is that the thread has executed it.  So the fence of each site
 * is kept once, before all other operations, where it does not interfere with them. */
static void keep_fence(struct model_history *h, const struct model_operation *fence)
{
	struct model_operation first = *fence;
	size_t i = 0;

	while (h->operations[i].kind == RADDLE_FENCE && h->operations[i].value != fence->value)
		i++;
	if (&h->operations[i] == fence)
		return;
	h->operation_count--;
	if (h->operations[i].kind == RADDLE_FENCE)
		return;
	first.q = first.counted = 0;
	memmove(h->operations + 1, h->operations, h->operation_count * sizeof first);
	h->operations[0] = first;
	h->operation_count++;
}

void model_prefix_trim(struct model_history *h)
{
	while (h->operation_count && is_idle(&h->operations[h->operation_count - 1]))
		h->operation_count--;
	if (h->operation_count < 2)
		return;
	const struct model_operation *last = &h->operations[h->operation_count - 1];

	if (effect(last) < 0)
		end_section(h, last);
	else if (last->kind == RADDLE_COND_WAKE)
		end_wait(h, last);
	else if (last->kind == RADDLE_FENCE)
		keep_fence(h, last);
}
