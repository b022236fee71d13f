// SPDX-License-Identifier: Apache-2.0
/*
 * Cuts a trace into parts that fit the remaining memory and time, and chooses the part to predict
 * next.  A trace that fits as a whole is one part.
 */
#include "predict/pass-int.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>

/* The largest number of bytes that prediction needs for an operation or access (measured). */
#define ITEM_BYTES 200

/* The number of further bytes that each event takes during the search, after it was created.  This
 * is an estimate from sqlite, whose 5.5 million records become 11 million events. */
#define EVENT_BYTES 90

/* The largest number of pieces into which a part is cut at once.  Only when the first piece has
 * been read is it known whether the pieces are small enough. */
#define PIECES_MAX 64

/* The time for reading a part and checking it in recorded order, as a multiple of the time for
 * reading alone.  This is an estimate. */
#define LOOK_COST 3

/* The smallest number of operations and accesses of a part.  Smaller parts would lose too many
 * errors at their borders. */
#define PART_ITEMS_MIN (1 << 16)

static uint64_t width_of(const struct predict_pass *d)
{
	struct model_part range = d->parts[d->at].range;
	uint64_t end = range.to < d->model->last_q ? range.to : d->model->last_q;

	return end > range.from ? end - range.from : 0;
}

uint64_t pass_pieces(const struct predict_pass *d)
{
	const struct predict_trace *t = &d->trace;
	uint64_t need = rd_memory_used() + t->x.count * EVENT_BYTES - d->base;
	uint64_t most = d->p->memory > d->base ? d->p->memory - d->base : 1;

	if (!d->p->memory || width_of(d) <= PIECES_MAX || t->x.count - t->begin < PART_ITEMS_MIN ||
	    need <= most)
		return 1;
	return need / most + 1 < PIECES_MAX ? need / most + 1 : PIECES_MAX;
}

void pass_cut_again(struct predict_pass *d, uint64_t pieces)
{
	RD_ASSERT(pieces > 1 && pieces <= PIECES_MAX);
	size_t count = 0;
	struct trace_part *parts = rd_xcalloc(d->done + (d->count - d->done) * pieces, sizeof *parts);

	for (size_t i = 0; i < d->count; i++) {
		struct model_part range = d->parts[i].range;
		uint64_t last = d->model->last_q, end = range.to < last ? range.to : last + 1;
		uint64_t each = end > range.from ? (end - range.from) / pieces + 1 : 1;

		if (d->parts[i].done) {
			parts[count++] = d->parts[i];
			continue;
		}
		for (uint64_t at = range.from; at == range.from || at < end; at += each)
			parts[count++].range =
				(struct model_part){at, at + each < end ? at + each : range.to};
	}
	RD_ASSERT(count >= d->count);
	free(d->parts);
	d->parts = parts;
	d->count = count;
	d->p->parts = count > d->p->parts ? count : d->p->parts;
}

/* Chooses the first part, then the last, then the others in order.  So the beginning and the end of
 * the program are covered even if time runs out. */
static size_t next_part(const struct predict_pass *d)
{
	size_t next = d->done == 1 ? d->count - 1 : 0;

	while (d->parts[next].done)
		next = (next + 1) % d->count;
	return next;
}

void pass_choose(struct predict_pass *d)
{
	int64_t left = d->p->deadline_ns - rd_now_ns();
	double need, pieces;

	RD_ASSERT(d->done < d->count);
	d->at = next_part(d);
	need = LOOK_COST * d->ns_per_q * (double)width_of(d);
	if (!d->p->deadline_ns || left <= 0 || need <= (double)left || width_of(d) <= PIECES_MAX)
		return;
	pieces = need * 2 / (double)left + 1; /* leaves time for at least two pieces */
	pass_cut_again(d, pieces < PIECES_MAX ? (uint64_t)pieces : PIECES_MAX);
	d->at = next_part(d);
}

void pass_note_reading(struct predict_pass *d, int64_t begin_ns)
{
	double each = (double)(rd_now_ns() - begin_ns) / (double)(width_of(d) + 1);

	if (!d->ns_per_q || each < d->ns_per_q)
		d->ns_per_q = each;
}

uint64_t pass_items(const struct predict_batch *p)
{
	uint64_t used = rd_memory_used();
	uint64_t items = p->memory > used ? (p->memory - used) / ITEM_BYTES : 0;

	return !p->memory ? UINT64_MAX : items > PART_ITEMS_MIN ? items : PART_ITEMS_MIN;
}

void pass_cut(struct predict_pass *d)
{
	uint64_t items = pass_items(d->p);
	struct model_part *ranges = NULL;

	d->base = rd_memory_used();
	if (d->model->events > items)
		d->count = model_cut(d->model, items, &ranges);
	else
		d->count = 1;
	d->parts = rd_xcalloc(d->count, sizeof *d->parts);
	for (size_t i = 0; i < d->count; i++)
		d->parts[i].range = ranges ? ranges[i] : MODEL_WHOLE;
	free(ranges);
	d->done = 0;
	if (d->count > 1 && d->count > d->p->parts)
		d->p->parts = d->count;
}
