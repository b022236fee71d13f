// SPDX-License-Identifier: Apache-2.0
/*
 * Delayed records are kept in a ring buffer for each thread that ever held a mutex.  The ring is
 * emptied when the thread releases its last mutex.  If the ring is full, its oldest record is
 * passed on.
 */
#include "epa/delay-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>

_Static_assert((EPA_DELAYED & (EPA_DELAYED - 1)) == 0, "positions in a ring are masked");

struct ring {
	struct epa_record *ring; /* room for EPA_DELAYED records; NULL if it was never needed */
	size_t first, count;
	unsigned locks; /* number of mutexes that the thread holds */
	bool waited;	/* a wait has ended, and the record after it has not been read yet */
	bool leaves;	/* the thread itself ends the process */
	bool struck;	/* a fault was injected into the thread since the ring was last empty */
};

struct epa_delay {
	struct epa_objects *objects;
	struct ring *threads;
	size_t thread_count;
	size_t going; /* the thread whose records may be passed on; SIZE_MAX if there is none */
	size_t keep;  /* number of records that stay delayed */
};

void epa_delay_free(struct epa_delay *h)
{
	if (!h)
		return;
	RD_FREE_EACH(h->threads, h->thread_count, .ring);
	free(h->threads);
	free(h);
}

struct epa_delay *epa_delay_new(struct epa_objects *objects, size_t threads)
{
	struct epa_delay *h = rd_xcalloc(1, sizeof *h);
	h->objects = objects;
	h->threads = rd_xcalloc(threads + 1, sizeof *h->threads);
	h->thread_count = threads;
	h->going = SIZE_MAX;
	return h;
}

static struct epa_record *delayed(const struct ring *t, size_t i)
{
	return &t->ring[(t->first + i) & (EPA_DELAYED - 1)];
}

void epa_delay_event(struct epa_delay *h, size_t place, const struct trace_event *e)
{
	RD_ASSERT(place < h->thread_count);
	struct ring *t = &h->threads[place];
	if (raddle_is(e->kind, RADDLE_CLASS_MUTEX, RADDLE_ROLE_ACQUIRE))
		t->locks += trace_result(e) == 0;
	else if (e->kind == RADDLE_MUTEX_UNLOCK)
		t->locks -= t->locks != 0;
	else if (e->kind == RADDLE_COND_WAKE)
		t->waited = true;
	else if (e->kind == RADDLE_THREAD_END)
		t->locks = 0;
	else
		t->leaves |= e->kind == RADDLE_ABORT || raddle_role(e->kind) == RADDLE_ROLE_END;
}

void epa_delay_fault(struct epa_delay *h, size_t place)
{
	RD_ASSERT(place < h->thread_count);
	h->threads[place].struck |= h->threads[place].locks != 0;
}

/* Drops the previous iteration if a new one begins with this record.  The variables that were
 * created in the dropped iteration are no longer counted. */
static void drop_round(struct epa_delay *h, struct ring *t, const struct epa_record *r)
{
	for (size_t i = t->count; i-- > 0;) {
		const struct epa_record *e = delayed(t, i);
		if (e->site != r->site || e->kind != r->kind || e->depth != r->depth)
			continue;
		for (size_t k = i; k < t->count; k++)
			if (delayed(t, k)->kind == TRACE_FULL_ALLOCA)
				epa_objects_forget(h->objects, r->place, delayed(t, k)->site);
		t->count = i;
		return;
	}
}

bool epa_delay_take(struct epa_delay *h, const struct epa_record *r)
{
	RD_ASSERT(r->place < h->thread_count);
	struct ring *t = &h->threads[r->place];
	if (!t->locks && !t->count)
		return false;
	if (t->waited && r->kind != TRACE_FULL_RESULT) {
		t->waited = false;
		drop_round(h, t, r);
	}
	if (!t->ring)
		t->ring = rd_xmalloc(EPA_DELAYED * sizeof *t->ring);
	t->count++;
	*delayed(t, t->count - 1) = *r;
	if (!t->locks || t->count == EPA_DELAYED) {
		h->going = r->place;
		h->keep = t->locks ? EPA_DELAYED - 1 : 0;
	}
	return true;
}

bool epa_delay_next(struct epa_delay *h, struct epa_record *r)
{
	if (h->going == SIZE_MAX)
		return false;
	struct ring *t = &h->threads[h->going];
	if (t->count <= h->keep) {
		t->struck &= t->locks != 0;
		h->going = SIZE_MAX;
		return false;
	}
	*r = *delayed(t, 0);
	t->first++;
	t->count--;
	return true;
}

bool epa_delay_idle(const struct epa_delay *h, size_t place)
{
	return h->going == SIZE_MAX && !h->threads[place].locks && !h->threads[place].count;
}

/* Returns true if the run ended while the thread was in an iteration that might have been dropped
 * later.  A thread that crashed, or that ended the run itself, was not in a wait.  Its records must
 * stay visible, because they may show effects of the fault. */
static bool is_cut_off(const struct ring *t)
{
	return t->locks && !t->leaves && !t->struck && !delayed(t, t->count - 1)->unfinished;
}

bool epa_delay_end(struct epa_delay *h)
{
	for (size_t i = 0; i < h->thread_count; i++) {
		if (!h->threads[i].count)
			continue;
		if (is_cut_off(&h->threads[i])) {
			h->threads[i].count = 0;
			continue;
		}
		h->going = i;
		h->keep = 0;
		return true;
	}
	return false;
}
