/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creates and fills the tables in memory, and answers queries about them.  All code here assumes
 * that the tables are valid.  If they come from a file, facts_read() has checked them.
 */
#include "facts/facts.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "facts/facts-int.h"

#include <stdlib.h>
#include <string.h>

struct facts *facts_new(void)
{
	struct facts *f = rd_xcalloc(1, sizeof *f);
	facts_add_string(f, "");
	return f;
}

void facts_free(struct facts *f)
{
	if (f == NULL)
		return;
	RD_FREE_EACH(f->strings, f->string_count);
	free(f->strings);
#define FREE(name, rows) free(f->rows);
	FACTS_TABLES(FREE)
#undef FREE
	free(f);
}

uint32_t facts_add_string(struct facts *f, const char *s)
{
	RD_GROW(f->strings, f->string_capacity, f->string_count + 1);
	f->strings[f->string_count] = rd_xstrdup(s);
	return (uint32_t)f->string_count++;
}

#define ADD(name, rows)                                                                                      \
	struct facts_##name *facts_add_##name(struct facts *f)                                               \
	{                                                                                                    \
		RD_GROW(f->rows, f->name##_capacity, f->name##_count + 1);                                   \
		f->rows[f->name##_count] = (struct facts_##name){0};                                         \
		return &f->rows[f->name##_count++];                                                          \
	}
FACTS_TABLES(ADD)
#undef ADD

void *facts_make_rows(struct facts *f, enum facts_table table, size_t count)
{
	switch (table) {
#define MAKE(name, rows)                                                                                     \
	case FACTS_TABLE_##name:                                                                             \
		free(f->rows);                                                                               \
		f->name##_count = f->name##_capacity = count;                                                \
		return f->rows = rd_xcalloc(count + 1, sizeof *f->rows);
		FACTS_TABLES(MAKE)
#undef MAKE
	default: RD_BUG("no such table");
	}
}

/* Returns the range that row `i` of a table refers to.  The row stores where its range begins; the
 * range ends where the next row's range begins.  `start` points to the stored beginning in row 0,
 * and the rows of the table are `row` bytes apart. */
static struct facts_run run_of(const uint32_t *start, size_t row, size_t i, size_t count, size_t all)
{
	const char *at = (const char *)start + i * row;
	RD_ASSERT(i < count);
	return (struct facts_run){*(const uint32_t *)at,
				  i + 1 < count ? *(const uint32_t *)(at + row) : (uint32_t)all};
}

#define RUN(f, rows, name, i, start, targets)                                                                \
	run_of(&(f)->rows->start, sizeof *(f)->rows, i, (f)->name##_count, (f)->targets##_count)

struct facts_run facts_values_of(const struct facts *f, uint32_t function)
{
	return RUN(f, functions, function, function, values, value);
}

struct facts_run facts_blocks_of(const struct facts *f, uint32_t function)
{
	return RUN(f, functions, function, function, blocks, block);
}

struct facts_run facts_block_values(const struct facts *f, uint32_t function, uint32_t block)
{
	struct facts_run run = RUN(f, blocks, block, block, values, value);
	struct facts_run all = facts_values_of(f, function);
	run.end = run.end < all.end ? run.end : all.end;
	return run;
}

struct facts_run facts_successors_of(const struct facts *f, uint32_t block)
{
	return RUN(f, blocks, block, block, successors, successor);
}

struct facts_run facts_operands_of(const struct facts *f, uint32_t value)
{
	return RUN(f, values, value, value, operands, operand);
}

struct facts_run facts_members_of(const struct facts *f, uint32_t set)
{
	return RUN(f, sets, set, set, members, member);
}

/* Returns the first row of the call graph whose value is not less than `value`. */
static uint32_t call_row(const struct facts *f, uint32_t value)
{
	uint32_t row = 0;

	RD_BISECT(row, f->call_count, at, f->calls[at].value < value);
	return row;
}

struct facts_run facts_calls_of(const struct facts *f, uint32_t value)
{
	return (struct facts_run){call_row(f, value), call_row(f, value + 1)};
}

const char *facts_string(const struct facts *f, uint32_t string)
{
	RD_ASSERT(string < f->string_count);
	return f->strings[string];
}

uint32_t facts_function_at(const struct facts *f, uint32_t value)
{
	uint32_t next = 1;

	RD_ASSERT(value < f->value_count);
	RD_BISECT(next, f->function_count, at, f->functions[at].values <= value);
	return next - 1;
}

uint32_t facts_operand_set(const struct facts *f, uint32_t operand)
{
	return operand & FACTS_CONSTANT ? f->constants[operand & ~FACTS_CONSTANT].set
					: f->values[operand].set;
}

uint32_t facts_find_function(const struct facts *f, const char *linkage)
{
	for (uint32_t i = 0; i < f->function_count; i++)
		if (strcmp(facts_string(f, f->functions[i].linkage), linkage) == 0)
			return i;
	return FACTS_NONE;
}

static bool places_overlap(const struct facts_place *a, int64_t a_size, const struct facts_place *b,
			   int64_t b_size)
{
	if (a->offset == FACTS_ANYWHERE || b->offset == FACTS_ANYWHERE)
		return true;
	return (a_size == 0 || b->offset < a->offset + a_size) &&
	       (b_size == 0 || a->offset < b->offset + b_size);
}

/* Places are numbered by object and then by offset, so the places of one object are contiguous. */
bool facts_sets_overlap(const struct facts *f, uint32_t a, int64_t a_size, uint32_t b, int64_t b_size)
{
	RD_ASSERT(a < f->set_count && b < f->set_count);
	struct facts_run x = facts_members_of(f, a), y = facts_members_of(f, b);
	while (x.first < x.end && y.first < y.end) {
		const struct facts_place *p = &f->places[f->members[x.first].place];
		uint32_t object = f->places[f->members[y.first].place].object;
		if (p->object > object) {
			y.first++;
			continue;
		}
		for (uint32_t i = y.first; p->object == object && i < y.end; i++) {
			const struct facts_place *q = &f->places[f->members[i].place];
			if (q->object != object)
				break;
			if (places_overlap(p, a_size, q, b_size))
				return true;
		}
		x.first++;
	}
	return false;
}

void facts_flow(const struct facts *f, uint32_t function, struct facts_graph *g)
{
	RD_ASSERT(function < f->function_count);
	struct facts_run blocks = facts_blocks_of(f, function);
	struct facts_edge *edges = NULL;
	size_t count = 0, capacity = 0;
	for (uint32_t b = blocks.first; b < blocks.end; b++) {
		struct facts_run to = facts_successors_of(f, b);
		RD_GROW(edges, capacity, count + (to.end - to.first) + 1);
		for (uint32_t s = to.first; s < to.end; s++)
			edges[count++] =
				(struct facts_edge){b - blocks.first, f->successors[s].block - blocks.first};
	}
	facts_graph_init(g, blocks.end - blocks.first, edges, count);
	free(edges);
}
