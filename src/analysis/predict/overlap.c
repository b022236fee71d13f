/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the accesses that overlap a write to the same variable by another thread.
 *
 * The forward walk finds accesses that begin before an earlier write has ended.  The backward walk
 * finds accesses that end after a later write has begun.  In both walks, the writes of the
 * accessing thread itself do not matter.  Each walk therefore keeps two writes of each variable:
 * the best one, and the best one of any other thread.  The best write is the one with the latest
 * end in the forward walk, and the one with the earliest beginning in the backward walk.
 */
#include "predict/overlap-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>

struct edge {
	uint32_t place;
	uint16_t thread;
	bool known;
};

struct nearest {
	struct edge first, other; /* the best edge, and the best one of any other thread */
};

static const struct edge *foreign(const struct nearest *n, uint16_t thread)
{
	const struct edge *e = n->first.thread == thread ? &n->other : &n->first;

	return e->known ? e : NULL;
}

/* Replaces one of the two kept writes if the write by `thread` is better.  `place` is the end or
 * the beginning of this write.  If `larger` is true, a larger position is better. */
static void note(struct nearest *n, uint16_t thread, uint32_t place, bool larger)
{
	struct edge new = {place, thread, true};

	if (n->first.known && n->first.thread != thread &&
	    (larger ? place <= n->first.place : place >= n->first.place)) {
		if (!n->other.known || (larger ? place > n->other.place : place < n->other.place))
			n->other = new;
		return;
	}
	if (n->first.known && n->first.thread != thread)
		n->other = n->first;
	else if (n->first.known && (larger ? place <= n->first.place : place >= n->first.place))
		return;
	n->first = new;
}

void predict_mark_unsure(struct exec *x, const struct predict_span *spans)
{
	RD_ASSERT(x->count == 0 || spans != NULL);
	struct nearest *before = rd_xcalloc((size_t)x->variables + 1, sizeof *before);
	struct nearest *next = rd_xcalloc((size_t)x->variables + 1, sizeof *next);
	const struct edge *edge;

	for (size_t i = 0; i < x->count; i++) {
		struct exec_event *e = &x->events[i];
		if (!exec_is_access(e->kind))
			continue;
		edge = foreign(&before[e->object], e->thread);
		if (edge && edge->place > spans[i].begin)
			e->flags |= EXEC_UNSURE;
		if (exec_writes(e->kind))
			note(&before[e->object], e->thread, spans[i].end, true);
	}
	for (size_t i = x->count; i-- > 0;) {
		struct exec_event *e = &x->events[i];
		if (!exec_is_access(e->kind))
			continue;
		edge = foreign(&next[e->object], e->thread);
		if (edge && edge->place < spans[i].end)
			e->flags |= EXEC_UNSURE;
		if (exec_writes(e->kind))
			note(&next[e->object], e->thread, spans[i].begin, false);
	}
	free(before);
	free(next);
}
