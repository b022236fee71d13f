// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of how uses of locks are kept.  Only a few of a thread's uses of a lock are kept, and
 * uses of one lock must not replace those of another.  Lock A is used once, between two uses of
 * lock B.  Wherever the two locks are in memory, a write over A must be a race.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "predict/fill.h"
#include "predict/predict-int.h"
#include "trace/encode-int.h"
#include "trace/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define BLOCKS 17
#define BLOCK(n) (0x10000 + 64 * (uint64_t)(n))

/* Sites 1 and 2 write 8 bytes, site 3 is a call. */
static const char table[] = "raddle-sites\t1\n"
			    "U\t0\t1\tu.c\n"
			    "F\t0\tu.c\n"
			    "S\t1\tw\t8\t-\t0\t1\t1\tf\t-\t-\n"
			    "S\t2\tw\t8\t-\t0\t3\t1\tf\t-\t-\n"
			    "S\t3\tc\t0\t-\t0\t2\t1\tmain\tpthread_mutex_lock\t-\n";
#define TABLE_RECORDS 5

static void use(struct trace_encoder *e, uint64_t *q, uint64_t lock)
{
	trace_encode_row(e, RADDLE_MUTEX_LOCK, (uint64_t[]){++*q, 0, lock, 0}, NULL);
	trace_encode_row(e, RADDLE_MUTEX_UNLOCK, (uint64_t[]){++*q, 0, lock, 0}, NULL);
}

/* Thread 1 uses `often`, `rare`, `often`.  Thread 0 overwrites both locks. */
static void encode(struct trace_encoder e[2], uint64_t often, uint64_t rare)
{
	uint64_t q = 0;

	trace_encode_row(&e[0], RADDLE_THREAD_START, (uint64_t[]){++q, 0, 0, 0, 0, 0, 1}, NULL);
	for (unsigned i = 0; i < BLOCKS; i++)
		trace_encode_row(&e[0], RADDLE_ALLOC, (uint64_t[]){++q, BLOCK(i), 64, RADDLE_ALLOC_MALLOC},
				 NULL);
	trace_encode_row(&e[0], RADDLE_THREAD_CREATE, (uint64_t[]){++q, 0, 1, 0, 0}, NULL);
	trace_encode_row(&e[1], RADDLE_THREAD_START, (uint64_t[]){++q, 0, 0, 0, 0, 0, 2}, NULL);
	trace_encode_stack(&e[1], 0, (uint32_t[]){3}, 1);
	use(&e[1], &q, often);
	use(&e[1], &q, rare);
	use(&e[1], &q, often);
	trace_encode_access(&e[0], 1, often);
	trace_encode_access(&e[0], 2, rare);
}

static void write_trace(const char *directory, struct trace_encoder e[2])
{
	struct trace_meta meta = {.complete = true};
	struct trace_writer *w = NULL;
	char path[128], *text;

	assert_int_equal(trace_writer_open(&w, directory), RD_OK);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(trace_writer_chunk(w, i, e[i].out.data, e[i].out.length), RD_OK);
	assert_int_equal(trace_writer_meta(w, &meta), RD_OK);
	assert_int_equal(trace_writer_close(w), RD_OK);
	text = rd_xasprintf("%send\t%d\t%016llx\n", table, TABLE_RECORDS,
			    (unsigned long long)XXH64(table, strlen(table), 0));
	snprintf(path, sizeof path, "%s/sites", directory);
	assert_int_equal(rd_file_write(path, text, strlen(text)), RD_OK);
	free(text);
}

/* Whether there is a race at this address. */
static bool has_race(const struct predict_trace *t, const struct predict_result *r, uint64_t address)
{
	for (size_t i = 0; i < r->race_count; i++) {
		const struct predict_variable *v = &t->variables[t->x.events[r->races[i].first].object];

		if (t->model->objects[v->object].base + v->offset == address)
			return true;
	}
	return false;
}

static bool find_races(const char *directory, uint64_t one, uint64_t other)
{
	struct predict_opts o = {0};
	struct predict_result r;
	struct predict_trace t;
	struct trace *trace;
	struct model *m;
	bool found;

	assert_int_equal(trace_open(&trace, directory, false), RD_OK);
	assert_int_equal(model_build(&m, trace, MODEL_HISTORIES), RD_OK);
	assert_int_equal(predict_fill(&t, m), RD_OK);
	assert_int_equal(predict_run(&t.x, &o, &r), RD_OK);
	found = has_race(&t, &r, one) && has_race(&t, &r, other);
	predict_result_release(&r);
	predict_trace_release(&t);
	model_free(m);
	trace_close(trace);
	return found;
}

static void try_blocks(unsigned first, unsigned second)
{
	char directory[] = "/tmp/u-predict-uses-XXXXXX";
	struct trace_encoder e[2] = {0};

	assert_non_null(mkdtemp(directory));
	for (unsigned i = 0; i < 2; i++)
		trace_encode_reset(&e[i]);
	encode(e, BLOCK(first), BLOCK(second) + 8);
	write_trace(directory, e);
	if (!find_races(directory, BLOCK(first), BLOCK(second) + 8))
		fail_msg("not one race at the lock in block %u, and one at that in block %u", second, first);
	for (unsigned i = 0; i < 2; i++)
		rd_buf_release(&e[i].out);
	rd_remove_tree(directory);
}

/* Some of these pairs of objects have numbers that differ in only one bit. */
static void test_two_locks(void **state)
{
	(void)state;
	for (unsigned i = 0; i < BLOCKS; i++)
		if (i != BLOCKS / 2)
			try_blocks(BLOCKS / 2, i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_locks)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
