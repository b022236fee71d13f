// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps marks in streams.  While parts of the run are scanned, it remembers positions at which
 * scans for other parts can start.  So the time for scanning a short part late in a long run
 * depends only on the length of the part.
 *
 * A mark is at the beginning of a chunk, since chunks can be read separately.  It contains the
 * state of the scan: its counts, and the remaining operations (prefix.c), which are the same for
 * every later part.  The accesses of the segment around the mark are not kept.  So a part can be
 * scanned from the mark only if that segment ends before the part begins.  Accesses can be located
 * from the mark only if some operation between the mark and the accesses is counted, because
 * occurrences are counted from that operation on.
 */
#include "model/model-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Both constants were set by hand, so that marks stay small compared with the model. */
#define MARK_BYTES_MAX (64u << 20) /* largest size of all marks together, in bytes */
/* A mark is kept only if it takes at most this many bytes, multiplied by the number of chunks since
 * the previous mark. */
#define CHUNK_BYTES (16u << 10)

const struct model_mark *model_mark_before(const struct model *m, size_t stream, uint64_t q)
{
	const struct model_marks *all = m->private->marks ? &m->private->marks[stream] : NULL;

	for (size_t i = all ? all->count : 0; i-- > 0;)
		if (all->items[i].ends_q < q)
			return &all->items[i];
	return NULL;
}

const struct model_mark *model_mark_at(const struct model *m, size_t stream, uint64_t skipped)
{
	const struct model_marks *all = m->private->marks ? &m->private->marks[stream] : NULL;

	for (size_t i = all ? all->count : 0; i-- > 0;)
		if (all->items[i].counts <= skipped)
			return &all->items[i];
	return NULL;
}

bool model_mark_wanted(struct model *m, size_t stream, struct trace_place place)
{
	struct model_private *x = m->private;

	if (!x->marks)
		x->marks = rd_xcalloc(trace_thread_count(m->trace) + 1, sizeof *x->marks);
	const struct model_marks *all = &x->marks[stream];
	return place.chunks > (all->count ? all->items[all->count - 1].place.chunks : 0);
}

void model_mark_add(struct model *m, size_t stream, const struct model_mark *mark)
{
	RD_ASSERT(stream < trace_thread_count(m->trace));
	struct model_marks *all = &m->private->marks[stream];
	size_t bytes = mark->prefix_count * sizeof *mark->prefix;
	uint64_t before = all->count ? all->items[all->count - 1].place.chunks : 0;

	if (m->private->mark_bytes + bytes > MARK_BYTES_MAX ||
	    bytes > (mark->place.chunks - before) * CHUNK_BYTES)
		return;
	RD_GROW(all->items, all->capacity, all->count + 1);
	struct model_mark *own = &all->items[all->count++];
	*own = *mark;
	own->prefix = bytes ? rd_xmalloc(bytes) : NULL;
	if (bytes)
		memcpy(own->prefix, mark->prefix, bytes);
	own->ends_q = own->counts = UINT64_MAX;
	m->private->mark_bytes += bytes;
}

void model_mark_pass(struct model *m, size_t stream, uint64_t number, const struct trace_event *e)
{
	RD_ASSERT(stream < trace_thread_count(m->trace));
	struct model_marks *all = m->private->marks ? &m->private->marks[stream] : NULL;
	bool ends = all && raddle_ends_segment(e->kind, trace_result(e)), counts = raddle_is_counted(e->kind);

	for (size_t i = all ? all->count : 0; i-- > 0;) {
		struct model_mark *mark = &all->items[i];
		if (mark->ends_q != UINT64_MAX && mark->counts != UINT64_MAX)
			break;
		if (number <= mark->operations)
			continue;
		if (ends && mark->ends_q == UINT64_MAX)
			mark->ends_q = e->q > mark->q ? e->q : mark->q;
		if (counts && mark->counts == UINT64_MAX)
			mark->counts = number;
	}
}

void model_marks_free(struct model *m)
{
	struct model_private *x = m->private;

	for (size_t i = 0; x->marks && i < trace_thread_count(m->trace); i++) {
		RD_FREE_EACH(x->marks[i].items, x->marks[i].count, .prefix);
		free(x->marks[i].items);
	}
	free(x->marks);
	x->marks = NULL;
}
