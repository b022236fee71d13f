// SPDX-License-Identifier: Apache-2.0
/*
 * Finds dependent operations, from a skeleton with its clocks.  The result consists of pairs of
 * operations on one object whose order is not fixed and affects their results:
 *
 * - a trylock or a timed lock, and any other operation on the lock; likewise for semaphores;
 * - the beginning of a condition wait, and a notification, which is lost if it comes first;
 * - two waits for a condition that is signalled, because a signal wakes only one thread;
 * - two calls with one once control, because the first thread runs the routine;
 * - operations of a barrier that is used by more threads than it waits for, because their order
 *   decides which threads pass it together.
 *
 * Two acquisitions of one mutex, or two posts of one semaphore, do not depend on each other,
 * although accesses to the protected memory may.  It is enough to compare an operation with the
 * last operation of each kind in every other thread, because the earlier operations of that thread
 * come before its last one.
 */
#include "reversible/depend-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>

/* The last operation of a thread and kind. */
struct last_use {
	uint32_t thread, at;
	uint8_t kind;
};

/* The operations of an object, in the order of the run. */
struct object_uses {
	uint32_t *at;
	size_t count, capacity;
};

enum { NO_KIND = UINT8_MAX };

static bool is_relevant(const struct rev_run *run, uint32_t object)
{
	const struct rev_object *o = &run->objects[object];

	if (o->foreign)
		return false;
	switch (o->class) {
	case REV_LOCK:
	case REV_SEM: return o->tried;
	case REV_BARRIER: return o->value && slots_threads(&run->enters, object) > o->value;
	default: return true;
	}
}

/* Returns the kind of an operation.  Each class of objects has at most two kinds of operations.  An
 * operation without a kind does not depend on any other. */
static uint8_t kind_of(const struct rev_object *o, const struct rev_op *op)
{
	switch (o->class) {
	case REV_LOCK:
	case REV_SEM: return op->flags & REV_TRY ? 0 : 1;
	case REV_COND: return op->kind == EXEC_WAIT ? 0 : rev_notifies(op) ? 1 : NO_KIND;
	case REV_ONCE: return op->kind == EXEC_ONCE_BEGIN ? 0 : op->kind == EXEC_ONCE_PASS ? 1 : NO_KIND;
	default: return op->kind == EXEC_ENTER ? 0 : NO_KIND;
	}
}

static bool depend(const struct rev_object *o, uint8_t a, uint8_t b)
{
	RD_ASSERT(a < NO_KIND && b < NO_KIND);
	if (o->class == REV_COND)
		return a != b || (a == 0 && o->signalled);
	return a == 0 || b == 0;
}

static void check(const struct rev_run *run, struct rev_shadow *shadow, const struct rev_op *first,
		  const struct rev_op *second)
{
	bool attempt = second->flags & REV_TRY;
	uint64_t address = run->objects[second->object].address;

	/* Both entries belong to the same use of a barrier, so their order does not matter. */
	if (first->kind == EXEC_ENTER && second->kind == EXEC_ENTER && first->link == second->link)
		return;
	rev_shadow_add(shadow, &(struct rev_pair){.t = first->thread,
						  .s = first->n - 1,
						  .u = second->thread,
						  .r = second->n - attempt,
						  .first = REV_SYNC,
						  .second = REV_SYNC,
						  .ops = attempt ? 7 : 3,
						  .address = address});
}

static void compare_with_last(const struct rev_run *run, struct rev_shadow *shadow,
			      const struct rev_object *o, const struct object_uses *uses)
{
	struct last_use *last = NULL;
	size_t count = 0, capacity = 0;

	for (size_t i = 0; i < uses->count; i++) {
		const struct rev_op *op = &run->ops[uses->at[i]];
		uint8_t kind = kind_of(o, op);
		struct last_use *own = NULL;

		if (kind == NO_KIND)
			continue;
		for (size_t k = 0; k < count; k++) {
			if (last[k].thread != op->thread && depend(o, last[k].kind, kind))
				check(run, shadow, &run->ops[last[k].at], op);
			if (last[k].thread == op->thread && last[k].kind == kind)
				own = &last[k];
		}
		if (!own) {
			RD_GROW(last, capacity, count + 1);
			own = &last[count++];
		}
		*own = (struct last_use){op->thread, uses->at[i], kind};
	}
	free(last);
}

static void note(struct object_uses *uses, const struct rev_run *run, uint32_t object, uint32_t at)
{
	if (object == REV_NONE || !is_relevant(run, object))
		return;
	RD_GROW(uses[object].at, uses[object].capacity, uses[object].count + 1);
	uses[object].at[uses[object].count++] = at;
}

void rev_depend(const struct rev_run *run, struct rev_shadow *shadow)
{
	struct object_uses *uses = rd_xcalloc(run->object_count + 1, sizeof *uses);

	for (uint32_t i = 0; i < run->op_count; i++) {
		const struct rev_op *op = &run->ops[i];

		if (op->kind == EXEC_FORK || op->kind == EXEC_JOIN)
			continue;
		note(uses, run, op->object, i);
		if (op->lock != op->object)
			note(uses, run, op->lock, i);
	}
	for (size_t i = 0; i < run->object_count; i++) {
		compare_with_last(run, shadow, &run->objects[i], &uses[i]);
		free(uses[i].at);
	}
	free(uses);
}
