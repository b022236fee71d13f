// SPDX-License-Identifier: Apache-2.0
/*
 * Computes the slice (slice/slice.h) by a backward search along dependences, one source line of a
 * function at a time.  All instructions of a line have the same distance, so dependences within a
 * line do not add to it.
 *
 * Items are sorted by that distance, then by their distance from the failure in the flow graph of
 * all threads, and finally by their index in the facts, last one first.  Items on one line of a
 * function stay together.
 */
#include "slice/slice.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/map.h"
#include "facts/role.h"
#include "slice/depend.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the place --- */

/* Returns true if `path` is `file`, or ends with '/' and `file`. */
static bool is_file(const char *path, const char *file)
{
	size_t n = strlen(path), m = strlen(file);
	if (m == 0 || m > n || strcmp(path + n - m, file) != 0)
		return false;
	return n == m || file[0] == '/' || path[n - m - 1] == '/';
}

static uint32_t lines_between(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

/* Finds the file with exactly that name, or else the only file whose name ends with it. */
static int find_file(const struct facts *f, const char *file, uint32_t *found)
{
	uint32_t other = FACTS_NONE; /* a second file whose name also ends with it */
	while (file[0] == '.' && file[1] == '/')
		file += 2;
	*found = FACTS_NONE;
	for (size_t v = 0; v < f->value_count; v++) {
		uint32_t name = f->values[v].file;
		if (name == 0 || name == *found || name == other || !is_file(facts_string(f, name), file))
			continue;
		if (strcmp(facts_string(f, name), file) == 0) {
			*found = name;
			return 0;
		}
		if (*found == FACTS_NONE)
			*found = name;
		else
			other = name;
	}
	if (*found == FACTS_NONE)
		return rd_fail(RD_ENOTFOUND, "%s: the program has no code from such a file", file);
	if (other != FACTS_NONE)
		return rd_fail(RD_EUSAGE, "%s: could be %s or %s: give more of the path", file,
			       facts_string(f, *found), facts_string(f, other));
	return 0;
}

int slice_find(struct slice_place *at, const struct facts *f, const char *file, uint32_t line)
{
	uint32_t nearest = UINT32_MAX;
	*at = (struct slice_place){0};
	int err = find_file(f, file, &at->file);
	if (err)
		return err;
	for (size_t v = 0; v < f->value_count; v++) {
		const struct facts_value *row = &f->values[v];
		uint32_t away = lines_between(row->line, line);
		if (row->file == at->file && row->line != 0 && away < nearest) {
			nearest = away;
			at->line = row->line;
		}
	}
	if (nearest > SLICE_NEAR)
		return rd_fail(
			RD_ENOTFOUND,
			"%s:%" PRIu32
			": the program has no code near this line; the nearest code is on line %" PRIu32,
			facts_string(f, at->file), line, at->line);
	at->moved = nearest;
	for (uint32_t v = 0; v < f->value_count; v++)
		if (f->values[v].file == at->file && f->values[v].line == at->line) {
			RD_GROW(at->values, at->capacity, at->count + 1);
			at->values[at->count++] = v;
		}
	return 0;
}

void slice_place_release(struct slice_place *at)
{
	free(at->values);
	*at = (struct slice_place){0};
}

/* --------------------------------------------------------------- the search --- */

struct search {
	struct depend depend;
	/* The distance of each value of the facts from the failure; FACTS_NONE if the value is not
	 * in the slice. */
	uint32_t *depth;
	uint32_t *now, *later; /* values at the current distance, and at the next one */
	size_t now_count, later_count, now_capacity, later_capacity;
	uint32_t at; /* the value whose dependences are being looked up */
};

static bool on_one_line(const struct facts *f, uint32_t a, uint32_t b)
{
	const struct facts_value *x = &f->values[a], *y = &f->values[b];
	/* A value without a place, such as an argument, is treated as part of the line that uses
	 * it. */
	if (x->line == 0 || y->line == 0)
		return true;
	return x->line == y->line && x->file == y->file && facts_function_at(f, a) == facts_function_at(f, b);
}

static void meet(uint32_t on, void *context)
{
	struct search *s = context;
	bool near = on_one_line(s->depend.f, s->at, on);
	uint32_t depth = s->depth[s->at] + !near;
	RD_ASSERT(s->depth[s->at] != FACTS_NONE);
	if (s->depth[on] <= depth)
		return;
	s->depth[on] = depth;
	if (near) {
		RD_GROW(s->now, s->now_capacity, s->now_count + 1);
		s->now[s->now_count++] = on;
	} else {
		RD_GROW(s->later, s->later_capacity, s->later_count + 1);
		s->later[s->later_count++] = on;
	}
}

/* Makes one round for each distance, so that a value is always first reached at its smallest
 * distance. */
static void search(struct search *s, uint32_t *done)
{
	for (uint32_t depth = 0; s->now_count != 0; depth++) {
		while (s->now_count != 0) {
			s->at = s->now[--s->now_count];
			if (s->depth[s->at] != depth || done[s->at])
				continue;
			done[s->at] = 1;
			depend_each(&s->depend, s->at, depth == 0, meet, s);
		}
		uint32_t *list = s->now;
		size_t capacity = s->now_capacity;
		s->now = s->later;
		s->now_count = s->later_count;
		s->now_capacity = s->later_capacity;
		s->later = list;
		s->later_count = 0;
		s->later_capacity = capacity;
	}
	RD_ASSERT(s->later_count == 0);
}

/* ---------------------------------------------------------------- the items --- */

const struct facts_function *slice_library(const struct facts *f, uint32_t call)
{
	struct facts_run calls = facts_calls_of(f, call);
	for (uint32_t c = calls.first; c < calls.end; c++)
		if (f->functions[f->calls[c].function].flags & FACTS_FUNCTION_EXTERNAL)
			return &f->functions[f->calls[c].function];
	return NULL;
}

/* Finds the kind of a call.  Returns false if the call cannot be watched.  Copies that the compiler
 * inserts count as accesses. */
static bool kind_of_call(const struct facts *f, uint32_t value, enum slice_kind *kind)
{
	const struct facts_function *library = slice_library(f, value);
	*kind = SLICE_CALL;
	if (library == NULL)
		return true;
	uint32_t role = library->role;
	if (role != FACTS_ROLE_NONE && role != FACTS_ROLE_ALLOCATE && role != FACTS_ROLE_RESIZE &&
	    role != FACTS_ROLE_FREE && role != FACTS_ROLE_EXIT && role != FACTS_ROLE_HANDLER)
		*kind = SLICE_SYNC;
	if (!(library->flags & FACTS_FUNCTION_INTRINSIC))
		return true;
	*kind = SLICE_WRITE;
	return strncmp(facts_string(f, library->linkage), "llvm.mem", 8) == 0;
}

bool slice_kind_of(const struct facts *f, uint32_t value, enum slice_kind *kind)
{
	if (f->values[value].line == 0)
		return false;
	switch (f->values[value].kind) {
	case FACTS_LOAD: *kind = SLICE_READ; return true;
	case FACTS_STORE:
	case FACTS_UPDATE:
	case FACTS_EXCHANGE: *kind = SLICE_WRITE; return true;
	case FACTS_BRANCH:
	case FACTS_SWITCH: *kind = SLICE_BRANCH; return true;
	case FACTS_RETURN: *kind = SLICE_CALL; return true;
	case FACTS_CALL: return kind_of_call(f, value, kind);
	default: return false;
	}
}

static void add_items(struct slice *s, const struct search *search, const uint32_t *steps)
{
	for (uint32_t v = 0; v < s->facts->value_count; v++) {
		struct slice_item item = {.value = v, .depth = search->depth[v]};
		if (item.depth == FACTS_NONE || !slice_kind_of(s->facts, v, &item.kind))
			continue;
		item.steps = steps[search->depend.flow.node_of[v]];
		RD_GROW(s->items, s->capacity, s->count + 1);
		s->items[s->count++] = item;
	}
}

static int by_distance(const void *a, const void *b)
{
	const struct slice_item *x = a, *y = b;
	RD_BY(x->depth, y->depth);
	RD_BY(x->steps, y->steps);
	RD_BY(y->value, x->value);
	return 0;
}

static int by_statement(const void *a, const void *b)
{
	const struct slice_item *x = a, *y = b;
	RD_BY(x->statement, y->statement);
	return by_distance(a, b);
}

/* Numbers the statements (lines of functions) in the order of their nearest items. */
static void number_statements(struct slice *s)
{
	struct rd_pmap lines = {0};
	for (size_t i = 0; i < s->count; i++) {
		const struct facts_value *v = &s->facts->values[s->items[i].value];
		bool is_new;
		uint64_t *number = rd_pmap_put(&lines, facts_function_at(s->facts, s->items[i].value),
					       (uint64_t)v->file << 32 | v->line, &is_new);
		if (is_new)
			*number = s->statements++;
		s->items[i].statement = (uint32_t)*number;
	}
	RD_ASSERT(s->statements <= s->count);
	rd_pmap_release(&lines);
}

void slice_make(struct slice *s, const struct facts *f, const struct slice_place *at)
{
	struct search search_ = {0};
	RD_ASSERT(at->count > 0);
	*s = (struct slice){.facts = f, .file = at->file, .line = at->line, .moved = at->moved};
	depend_init(&search_.depend, f);
	search_.depth = rd_xmalloc((f->value_count + 1) * sizeof *search_.depth);
	memset(search_.depth, 0xff, f->value_count * sizeof *search_.depth);
	RD_GROW(search_.now, search_.now_capacity, at->count + 1);
	for (size_t i = 0; i < at->count; i++) {
		search_.depth[at->values[i]] = 0;
		search_.now[search_.now_count++] = at->values[i];
	}
	uint32_t *done = rd_xcalloc(f->value_count + 1, sizeof *done);
	uint32_t *steps = rd_xcalloc(search_.depend.flow.nodes + 1, sizeof *steps);
	search(&search_, done);
	tflow_steps(&search_.depend.flow, at->values, at->count, steps);
	add_items(s, &search_, steps);
	if (s->count != 0)
		qsort(s->items, s->count, sizeof *s->items, by_distance);
	number_statements(s);
	if (s->count != 0)
		qsort(s->items, s->count, sizeof *s->items, by_statement);
	depend_release(&search_.depend);
	RD_FREE(search_.depth, search_.now, search_.later, done, steps);
}

void slice_release(struct slice *s)
{
	rd_names_release(&s->operations);
	free(s->items);
	*s = (struct slice){0};
}
