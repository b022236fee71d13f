// SPDX-License-Identifier: Apache-2.0
/*
 * Aligns a thread of the run with its golden counterpart.  While the two have diverged, records of
 * the run wait in a queue, and a second cursor looks ahead in the golden records.
 */
#include "epa/align.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* The number of queued records that triggers the first search.  If a search fails, the next one
 * waits until there are four times as many records as at that search. */
#define FIRST_TRY 16
/* The number of consecutive equal instructions that count as a common path.  It was set by hand. */
#define CONFIRM 3

struct align_key {
	uint64_t instruction;
	uint32_t depth;
};

struct epa_aligner {
	struct epa_align_sink sink;
	size_t place;
	struct epa_cursor *cursor;
	/* Room for EPA_ALIGN_WINDOW records; NULL if the thread never diverged. */
	struct epa_record *queue;
	size_t first, count;
	bool lost; /* the run and the golden run have diverged */
	/* The search failed, so the records of both runs are skipped up to the end of the scope in
	 * which the runs diverged. */
	bool leaving;
	bool given_up; /* the search cannot succeed any more */
	size_t next_try;
	/* The call depth of the last pair of records.  It is one less for each scope that was left
	 * since then because a search had failed. */
	uint32_t depth;
	uint32_t golden_depth; /* call depth before the golden record at the cursor */
	struct epa_cursor look;
	struct align_key *keys; /* keys of the golden records from the cursor on */
	size_t key_count;
	uint32_t look_depth;
};

struct epa_aligner *epa_aligner_new(const struct epa_align_sink *sink, const struct epa_record *last,
				    struct epa_cursor *cursor)
{
	struct epa_aligner *a = rd_xcalloc(1, sizeof *a);
	a->sink = *sink;
	a->place = last->place;
	a->depth = a->golden_depth = last->depth;
	a->cursor = cursor;
	return a;
}

void epa_aligner_free(struct epa_aligner *a)
{
	if (!a)
		return;
	epa_cursor_close(&a->look);
	RD_FREE(a->queue, a->keys, a);
}

static struct epa_record *queued(const struct epa_aligner *a, size_t i)
{
	RD_ASSERT(i < a->count);
	return &a->queue[(a->first + i) & (EPA_ALIGN_WINDOW - 1)];
}

static const uint64_t *peek(const struct epa_aligner *a)
{
	return a->cursor ? epa_cursor_peek(a->cursor) : NULL;
}

/* Returns the call depth after a golden record. */
static uint32_t depth_after(uint32_t depth, const uint64_t *words)
{
	struct epa_record r;
	epa_record_unpack(&r, words);
	switch (r.kind) {
	case TRACE_FULL_ENTRY: return depth + 1;
	case TRACE_FULL_RETURN:
	case TRACE_FULL_TAIL: return depth - (depth != 0);
	case TRACE_FULL_LANDING: return (uint32_t)r.slots[0].where;
	default: return depth;
	}
}

/* --- while both runs execute the same instructions --- */

/* Pairs the record with the next golden one.  Returns false if the two are different
 * instructions. */
static bool in_step(struct epa_aligner *a, const struct epa_record *r)
{
	const uint64_t *words = peek(a);
	struct epa_record golden;
	if (!words || epa_packed_key(words[0]) != epa_record_key(r))
		return false;
	epa_record_unpack(&golden, words);
	golden.op = r->op;
	a->sink.pair(a->sink.context, &golden, r, a->cursor->number);
	epa_cursor_skip(a->cursor);
	a->depth = a->golden_depth = r->depth;
	return true;
}

static void begin_search(struct epa_aligner *a)
{
	a->lost = true;
	a->next_try = FIRST_TRY;
	a->key_count = 0;
	if (!a->cursor)
		return;
	epa_cursor_copy(&a->look, a->cursor);
	a->look_depth = a->golden_depth;
	if (!a->keys)
		a->keys = rd_xmalloc(EPA_ALIGN_WINDOW * sizeof *a->keys);
}

static void part(struct epa_aligner *a, const struct epa_record *r)
{
	const uint64_t *words = peek(a);
	struct epa_record golden;
	if (words)
		epa_reference_unpack(a->cursor->reference, &golden, words);
	a->sink.part(a->sink.context, a->place, words ? &golden : NULL, r, a->cursor ? a->cursor->number : 0);
}

/* --- after the runs have diverged --- */

static void drop_golden(struct epa_aligner *a)
{
	struct epa_record golden;
	const uint64_t *words = peek(a);
	epa_reference_unpack(a->cursor->reference, &golden, words);
	a->golden_depth = depth_after(a->golden_depth, words);
	a->sink.only(a->sink.context, a->place, &golden, true);
	epa_cursor_skip(a->cursor);
}

static void drop_queued(struct epa_aligner *a)
{
	a->sink.only(a->sink.context, a->place, queued(a, 0), false);
	a->first++;
	a->count--;
}

static void look_ahead(struct epa_aligner *a, size_t count)
{
	const uint64_t *words;
	while (a->cursor && a->key_count < count && (words = epa_cursor_peek(&a->look))) {
		a->look_depth = depth_after(a->look_depth, words);
		a->keys[a->key_count++] = (struct align_key){epa_packed_key(words[0]), a->look_depth};
		epa_cursor_skip(&a->look);
	}
}

static bool is_same(const struct epa_aligner *a, size_t i, size_t j)
{
	const struct epa_record *r = queued(a, i);
	return a->keys[j].instruction == epa_record_key(r) && a->keys[j].depth == r->depth;
}

/* Returns true if record i of the queue and golden record j begin a common path, which means that
 * the next CONFIRM instructions are equal.  Fewer instructions are enough if one of them is an
 * event, or if the records end after at least one equal instruction.  A record that has not been
 * read yet counts as different. */
static bool begins_common_path(const struct epa_aligner *a, size_t i, size_t j, bool ended)
{
	for (size_t k = 0; k < CONFIRM; k++) {
		if (i + k >= a->count || j + k >= a->key_count)
			return ended && k > 0;
		if (!is_same(a, i + k, j + k))
			return false;
		if (queued(a, i + k)->kind == TRACE_FULL_EVENT)
			return true;
	}
	return true;
}

/* Finds the nearest place after which both runs do the same, and drops the records before it.
 * Returns false if there is no such place. */
static bool find_common_path(struct epa_aligner *a, bool ended)
{
	size_t n = a->count, m;
	look_ahead(a, a->next_try < FIRST_TRY || ended	   ? EPA_ALIGN_WINDOW
		      : EPA_ALIGN_WINDOW < 4 * a->next_try ? EPA_ALIGN_WINDOW
							   : 4 * a->next_try);
	m = a->key_count;
	for (size_t sum = 0; sum + 1 < n + m && n && m; sum++) {
		for (size_t i = sum < m ? 0 : sum - m + 1; i <= sum && i < n; i++) {
			if (!begins_common_path(a, i, sum - i, ended))
				continue;
			for (size_t j = sum - i; j > 0; j--)
				drop_golden(a);
			while (i-- > 0)
				drop_queued(a);
			a->lost = false;
			return true;
		}
	}
	return false;
}

/* Leaves the scope in which the two runs diverged.  Returns false if the run is still in that
 * scope. */
static bool leave_scope(struct epa_aligner *a)
{
	const uint64_t *words;
	while (a->count && queued(a, 0)->depth >= a->depth)
		drop_queued(a);
	if (!a->count)
		return false;
	while ((words = peek(a)) && depth_after(a->golden_depth, words) >= a->depth)
		drop_golden(a);
	a->depth--;
	a->leaving = false;
	begin_search(a);
	return true;
}

/* Does one step.  Returns false if nothing can be done before the next record. */
static bool step(struct epa_aligner *a, bool ended)
{
	if (!a->count)
		return false;
	if (a->given_up || (a->lost && !peek(a))) {
		drop_queued(a);
		return true;
	}
	if (a->leaving)
		return leave_scope(a);
	if (!a->lost) {
		if (in_step(a, queued(a, 0))) {
			a->first++;
			a->count--;
		} else {
			part(a, queued(a, 0));
			begin_search(a);
		}
		return true;
	}
	if (a->count < a->next_try && !ended)
		return false;
	if (ended)
		a->next_try = EPA_ALIGN_WINDOW;
	if (find_common_path(a, ended))
		return true;
	if (ended || a->next_try >= EPA_ALIGN_WINDOW) {
		a->given_up = ended || a->depth == 0;
		a->leaving = !a->given_up;
		return true;
	}
	a->next_try = 4 * a->next_try < EPA_ALIGN_WINDOW ? 4 * a->next_try : EPA_ALIGN_WINDOW;
	return true;
}

void epa_aligner_feed(struct epa_aligner *a, const struct epa_record *r)
{
	RD_ASSERT(a->count <= EPA_ALIGN_WINDOW);
	if (!a->lost && !a->count && in_step(a, r))
		return;
	if (!a->queue)
		a->queue = rd_xmalloc(EPA_ALIGN_WINDOW * sizeof *a->queue);
	*queued(a, a->count++) = *r;
	/* Other threads may use what this thread did before an event, so the thread's deviations
	 * must be known now. */
	if (a->lost && r->kind == TRACE_FULL_EVENT && !a->leaving && !a->given_up)
		a->next_try = a->count;
	while (step(a, false))
		;
}

void epa_aligner_end(struct epa_aligner *a)
{
	while (step(a, true))
		;
}
