// SPDX-License-Identifier: Apache-2.0
/*
 * Tests predict/granule-int.h on models of random traces.  The reference lists all accesses of
 * every granule.  Granules must be one variable exactly if their lists are the same.
 */
#include "predict/granule-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "trace/encode-int.h"
#include "trace/writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { THREADS = 3, STEPS = 120, ROUNDS = 120, SIZE = 96 };
#define FIRST 0x10000ull
#define SECOND 0x20000ull

/* Sites 1 to 4 read 1, 2, 4 and 8 bytes, 5 to 8 write them. */
static const char table[] = "raddle-sites\t1\n"
			    "U\t0\t1\tu.c\n"
			    "F\t0\tu.c\n"
			    "S\t1\tr\t1\t-\t0\t1\t1\tf\t-\t-\n"
			    "S\t2\tr\t2\t-\t0\t2\t1\tf\t-\t-\n"
			    "S\t3\tr\t4\t-\t0\t3\t1\tf\t-\t-\n"
			    "S\t4\tr\t8\t-\t0\t4\t1\tf\t-\t-\n"
			    "S\t5\tw\t1\t-\t0\t5\t1\tf\t-\t-\n"
			    "S\t6\tw\t2\t-\t0\t6\t1\tf\t-\t-\n"
			    "S\t7\tw\t4\t-\t0\t7\t1\tf\t-\t-\n"
			    "S\t8\tw\t8\t-\t0\t8\t1\tf\t-\t-\n";
#define TABLE_RECORDS 10

static uint32_t pick(uint32_t below)
{
	return (uint32_t)rand() % below;
}

/* ---- random traces and their models ---- */

static void fill(struct trace_encoder *e, uint64_t *q)
{
	uint64_t base = pick(4) ? FIRST : SECOND;
	uint32_t site = 1 + pick(8), at, step = 1u << (site - 1) % 4;

	switch (pick(4)) {
	case 0: /* ends a segment */
		trace_encode_row(e, RADDLE_MUTEX_LOCK, (uint64_t[]){(*q)++, *q, 0x900, 0}, NULL);
		trace_encode_row(e, RADDLE_MUTEX_UNLOCK, (uint64_t[]){(*q)++, *q, 0x900, 0}, NULL);
		break;
	case 1: /* a loop over a part of the object; all its accesses are alike */
		for (at = 0; at < SIZE / 2; at += step)
			trace_encode_access(e, site, base + at);
		break;
	default:
		for (uint32_t i = 0; i < 1 + pick(3); i++) /* several accesses */
			trace_encode_access(e, site, base + 4 * pick(SIZE / 4 - 1));
	}
}

static struct model *make_model(struct trace **trace)
{
	static const char empty_path[] = "/tmp/u-granule-XXXXXX";
	struct trace_encoder out[THREADS] = {0};
	struct trace_meta meta = {.complete = true};
	struct trace_writer *w = NULL;
	struct model *m = NULL;
	char directory[sizeof empty_path], path[sizeof empty_path + 8], *text;
	uint64_t q = 1;

	strcpy(directory, empty_path);
	assert_non_null(mkdtemp(directory));
	for (uint32_t t = 0; t < THREADS; t++)
		trace_encode_reset(&out[t]);
	trace_encode_row(&out[0], RADDLE_ALLOC, (uint64_t[]){q++, FIRST, SIZE, RADDLE_ALLOC_MALLOC}, NULL);
	trace_encode_row(&out[0], RADDLE_ALLOC, (uint64_t[]){q++, SECOND, SIZE, RADDLE_ALLOC_MALLOC}, NULL);
	for (uint32_t i = 0; i < STEPS; i++)
		fill(&out[pick(THREADS)], &q);
	assert_int_equal(trace_writer_open(&w, directory), RD_OK);
	for (uint32_t t = 0; t < THREADS; t++) {
		assert_int_equal(trace_writer_chunk(w, t, out[t].out.data, out[t].out.length), RD_OK);
		rd_buf_release(&out[t].out);
	}
	assert_int_equal(trace_writer_meta(w, &meta), RD_OK);
	assert_int_equal(trace_writer_close(w), RD_OK);
	text = rd_xasprintf("%send\t%d\t%016llx\n", table, TABLE_RECORDS,
			    (unsigned long long)XXH64(table, strlen(table), 0));
	snprintf(path, sizeof path, "%s/sites", directory);
	assert_int_equal(rd_file_write(path, text, strlen(text)), RD_OK);
	free(text);
	assert_int_equal(trace_open(trace, directory, false), RD_OK);
	assert_int_equal(model_build(&m, *trace, MODEL_HISTORIES), RD_OK);
	rd_remove_tree(directory);
	return m;
}

/* ---- the twin: lists of the accesses of every granule ---- */

struct told {
	size_t thread, operation;
	uint32_t site;
	bool write;
};

struct granule {
	uint32_t object, variable;
	uint64_t offset, size;
	struct told *story;
	size_t count, capacity;
};

struct twin {
	struct granule *list;
	size_t count, capacity;
};

static bool same_access(const struct told *a, const struct told *b)
{
	return a->thread == b->thread && a->operation == b->operation && a->site == b->site &&
	       a->write == b->write;
}

/* Lists all accesses that touch the granule, thread by thread.  Repetitions of an access directly
 * after it count once. */
static void tell_story(const struct model *m, struct granule *g)
{
	for (size_t t = 0; t < m->thread_count; t++)
		for (size_t k = 0, operation = 0; k < m->histories[t].access_count; k++) {
			const struct model_history *h = &m->histories[t];
			const struct model_access *a = &h->accesses[k];
			struct told now = {t, 0, a->site, a->write};

			while (operation < h->operation_count && h->operations[operation].access <= k)
				operation++;
			now.operation = operation;
			if (a->object != g->object || a->offset > g->offset ||
			    a->offset + a->size <= g->offset)
				continue;
			/* No access touches a granule in part. */
			assert_true(a->offset + a->size >= g->offset + g->size);
			if (g->count && same_access(&g->story[g->count - 1], &now))
				continue;
			RD_GROW(g->story, g->capacity, g->count + 1);
			g->story[g->count++] = now;
		}
}

static bool same_story(const struct granule *a, const struct granule *b)
{
	if (a->object != b->object || a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!same_access(&a->story[i], &b->story[i]))
			return false;
	return true;
}

static void add_granule(struct twin *t, const struct model *m, const struct granule_walk *w)
{
	for (size_t i = 0; i < t->count; i++) {
		struct granule *g = &t->list[i];

		if (g->object != w->access->object || g->offset != w->offset)
			continue;
		assert_int_equal(g->variable, w->variable);
		assert_int_equal(g->size, w->size);
		return;
	}
	RD_GROW(t->list, t->capacity, t->count + 1);
	t->list[t->count] = (struct granule){w->access->object, w->variable, w->offset, w->size, NULL, 0, 0};
	tell_story(m, &t->list[t->count++]);
}

/* Every access consists of its shared granules and of bytes that are not shared. */
static void walk(struct twin *t, const struct model *m, struct granules *g)
{
	for (size_t i = 0; i < m->thread_count; i++)
		for (size_t k = 0; k < m->histories[i].access_count; k++) {
			const struct model_access *a = &m->histories[i].accesses[k];
			struct granule_walk w = granules_of(g, a);
			uint64_t at = a->offset;

			while (granule_next(&w)) {
				assert_true(w.offset >= at && w.size > 0);
				assert_true(w.offset + w.size <= a->offset + a->size);
				if (w.offset > at)
					assert_false(model_is_shared(m, a->object, at, w.offset - at));
				assert_true(model_is_shared(m, a->object, w.offset, w.size));
				at = w.offset + w.size;
				add_granule(t, m, &w);
			}
		}
}

static uint32_t check_variables(const struct twin *t)
{
	uint32_t different = 0;

	for (size_t i = 0; i < t->count; i++) {
		bool first = true;

		for (size_t k = 0; k < t->count; k++) {
			assert_int_equal(t->list[i].variable == t->list[k].variable,
					 same_story(&t->list[i], &t->list[k]));
			first &= k >= i || t->list[k].variable != t->list[i].variable;
		}
		different += first;
	}
	return different;
}

static void variables_are_stories(void **state)
{
	size_t granules = 0, variables = 0;

	(void)state;
	srand(15);
	for (int round = 0; round < ROUNDS; round++) {
		struct twin t = {0};
		struct trace *trace;
		struct model *m = make_model(&trace);
		struct granules *g = granules_new(m);

		walk(&t, m, g);
		assert_int_equal(check_variables(&t), granules_variables(g));
		granules += t.count;
		variables += granules_variables(g);
		RD_FREE_EACH(t.list, t.count, .story);
		free(t.list);
		granules_free(g);
		model_free(m);
		trace_close(trace);
	}
	/* some granules are alike, but not all */
	assert_true(variables > ROUNDS && variables < granules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_are_stories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
