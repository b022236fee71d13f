// SPDX-License-Identifier: Apache-2.0
/*
 * Recognises threads that spin, which means that they read an atomic variable again and again,
 * millions of times, until it has changed.  It receives the atomic writes of all threads, then the
 * events of one thread in order, and finds the reads that add nothing new.
 *
 * Consider consecutive reads from one site at one place, without a write to the place between them
 * in the order of q.  Only the first and the last of these reads are kept.  All of them read from
 * the same write.  In a schedule in which the first and the last read still read from that write,
 * no other write comes between them.  So the reads in between are correct, too.  And stopping a
 * thread before one of these reads is the same as stopping it after the first.  So no error is
 * lost, and none is invented.
 */
#include "model/model-int.h"

#include "base/alloc.h"
#include "base/compare.h"

#include <stdlib.h>

#define PLACE 16 /* the number of bytes in a place, which is the size of the largest atomic */

void model_note_store(struct model *m, const struct trace_event *e)
{
	struct model_private *x = m->private;

	if (e->kind != RADDLE_ATOMIC || !(e->values[3] & 1))
		return;
	RD_GROW(x->stores, x->store_capacity, x->store_count + 1);
	x->stores[x->store_count++] = (struct model_store){e->address / PLACE, e->q};
}

RD_COMPARISON(compare_stores, struct model_store, place, q)

void model_sort_stores(struct model *m)
{
	struct model_private *x = m->private;

	if (x->store_count)
		qsort(x->stores, x->store_count, sizeof *x->stores, compare_stores);
}

/* Returns the q of the first write to the place after q, or UINT64_MAX if there is none. */
static uint64_t next_store(const struct model_private *x, uint64_t place, uint64_t q)
{
	const struct model_store now = {place, q};
	size_t low = 0;

	RD_BISECT(low, x->store_count, at, compare_stores(&x->stores[at], &now) <= 0);
	return low < x->store_count && x->stores[low].place == place ? x->stores[low].q : UINT64_MAX;
}

bool model_spins(const struct model *m, struct model_spin *s, const struct trace_event *e)
{
	bool reads = e->kind == RADDLE_ATOMIC && !(e->values[3] & 1) && e->q >= m->part.from && !m->ordered;

	if (reads && s->reads && e->site == s->site && e->address == s->address && e->q < s->until)
		return s->reads++ >= 2;
	*s = (struct model_spin){0};
	if (reads)
		*s = (struct model_spin){.site = e->site,
					 .address = e->address,
					 .until = next_store(m->private, e->address / PLACE, e->q),
					 .reads = 1};
	return false;
}
