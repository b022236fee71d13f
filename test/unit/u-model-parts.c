// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the model of a part of a run.  Random traces have three threads with locks, atomics
 * and ranges, in many small chunks.  Parts are loaded in random order, so that scans start at marks
 * left by other scans.  Whatever was loaded before, a part must have the operations and accesses of
 * the whole run between its bounds.  Of earlier operations it must have at least the locks that are
 * held at its beginning.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "model/model.h"
#include "trace/encode-int.h"
#include "trace/writer.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, STEPS = 1500, CHUNK = 25, LOCKS = 2, MEMORY = 0x10000, LOCK = 0x20000, FLAG = 0x30000 };

struct world {
	struct rd_random random;
	int holder[LOCKS];	    /* thread + 1; 0: free */
	int held[STEPS + 2][LOCKS]; /* the holders before operation q */
	uint64_t q;
};

static uint64_t pick(struct world *w, uint64_t n)
{
	return rd_random_below(&w->random, n);
}

static void flush(struct trace_writer *out, struct trace_encoder *e, unsigned thread)
{
	if (e->out.length != 0)
		assert_int_equal(trace_writer_chunk(out, thread, e->out.data, e->out.length), RD_OK);
	rd_buf_clear(&e->out);
	trace_encode_reset(e);
}

static void lock_or_unlock(struct world *w, struct trace_encoder *e, int thread)
{
	size_t n = pick(w, LOCKS);

	if (w->holder[n] == 0) {
		trace_encode_row(e, RADDLE_MUTEX_LOCK, (uint64_t[]){w->q, w->q * 10, LOCK + 64 * n, 0}, NULL);
		w->holder[n] = thread + 1;
	} else if (w->holder[n] == thread + 1) {
		trace_encode_row(e, RADDLE_MUTEX_UNLOCK, (uint64_t[]){w->q, w->q * 10, LOCK + 64 * n, 0},
				 NULL);
		w->holder[n] = 0;
	} else {
		return;
	}
	w->q++;
	memcpy(w->held[w->q], w->holder, sizeof w->holder);
}

static void make_step(struct world *w, struct trace_encoder *e, int thread)
{
	switch (pick(w, 4)) {
	case 0: lock_or_unlock(w, e, thread); break;
	case 1: /* stores only, because the model drops some loads (u-model-spin.c) */
		trace_encode_row(e, RADDLE_ATOMIC, (uint64_t[]){w->q, 1, FLAG + 8 * pick(w, 3), 1}, NULL);
		w->q++;
		memcpy(w->held[w->q], w->holder, sizeof w->holder);
		break;
	default: trace_encode_row(e, RADDLE_RANGE, (uint64_t[]){2, MEMORY + 4 * pick(w, 16), 4}, NULL);
	}
}

static struct trace *make_trace(struct world *w)
{
	struct trace_encoder encoders[THREADS] = {0};
	struct trace_meta meta = {.complete = true};
	struct trace_writer *out = NULL;
	struct trace *trace = NULL;
	char directory[] = "/tmp/u-model-parts-XXXXXX";
	unsigned counts[THREADS] = {0};

	assert_non_null(mkdtemp(directory));
	assert_int_equal(trace_writer_open(&out, directory), RD_OK);
	for (unsigned t = 0; t < THREADS; t++)
		trace_encode_reset(&encoders[t]);
	w->q = 1;
	for (size_t i = 0; i < STEPS; i++) {
		unsigned t = (unsigned)pick(w, THREADS);

		make_step(w, &encoders[t], (int)t);
		if (++counts[t] % CHUNK == 0)
			flush(out, &encoders[t], t);
	}
	for (unsigned t = 0; t < THREADS; t++) {
		flush(out, &encoders[t], t);
		rd_buf_release(&encoders[t].out);
	}
	assert_int_equal(trace_writer_meta(out, &meta), RD_OK);
	assert_int_equal(trace_writer_close(out), RD_OK);
	assert_int_equal(trace_open(&trace, directory, true), RD_OK);
	return trace;
}

/* ---- comparison of a part with the whole run ---- */

static size_t segment_end(const struct model_history *h, size_t i)
{
	return i + 1 < h->operation_count ? h->operations[i + 1].access : h->access_count;
}

static void check_segment(const struct model_history *a, size_t i, const struct model_history *b, size_t k)
{
	size_t n = segment_end(a, i) - a->operations[i].access;

	assert_int_equal(n, segment_end(b, k) - b->operations[k].access);
	for (size_t x = 0; x < n; x++) {
		const struct model_access *p = &a->accesses[a->operations[i].access + x];
		const struct model_access *q = &b->accesses[b->operations[k].access + x];

		assert_int_equal(p->object, q->object);
		assert_int_equal(p->offset, q->offset);
		assert_int_equal(p->size, q->size);
		assert_int_equal(p->site, q->site);
	}
}

static size_t first_at(const struct model_history *h, uint64_t q)
{
	size_t i = 0;

	while (i < h->operation_count && h->operations[i].q < q)
		i++;
	return i;
}

/* Compares the operations in the part, and the accesses after each of them.  The last operation is
 * an exception: its segment may continue after the part. */
static void check_history(const struct model_history *whole, const struct model_history *part,
			  struct model_part bounds)
{
	size_t i = first_at(whole, bounds.from), k = first_at(part, bounds.from);

	/* the accesses at the beginning come after the last operation before it */
	if (i > 0 && i < whole->operation_count && whole->operations[i].q < bounds.to) {
		assert_true(k > 0);
		assert_int_equal(part->operations[k - 1].q, whole->operations[i - 1].q);
		check_segment(whole, i - 1, part, k - 1);
	}
	for (; i < whole->operation_count && whole->operations[i].q < bounds.to; i++, k++) {
		const struct model_operation *a = &whole->operations[i], *b = &part->operations[k];

		assert_true(k < part->operation_count);
		assert_int_equal(a->q, b->q);
		assert_int_equal(a->kind, b->kind);
		assert_int_equal(a->sync, b->sync);
		assert_int_equal(a->value, b->value);
		assert_int_equal(a->counted, b->counted);
		if (i + 1 < whole->operation_count && whole->operations[i + 1].q < bounds.to)
			check_segment(whole, i, part, k);
	}
	assert_int_equal(k, part->operation_count);
}

static uint64_t address_of(const struct model *m, uint32_t sync)
{
	const struct model_sync *s = &m->syncs[sync];

	assert_true(sync < m->sync_count);
	return s->offset + (s->object != MODEL_NONE ? m->objects[s->object].base : 0);
}

/* The operations before the part must leave the right locks held. */
static void check_held(const struct world *w, const struct model *m)
{
	for (int t = 0; t < THREADS; t++) {
		const struct model_history *h = &m->histories[t];
		int balance[LOCKS] = {0};

		for (size_t i = 0; i < h->operation_count && h->operations[i].q < m->part.from; i++) {
			const struct model_operation *op = &h->operations[i];

			if (op->kind == RADDLE_MUTEX_LOCK || op->kind == RADDLE_MUTEX_UNLOCK)
				balance[(address_of(m, op->sync) - LOCK) / 64] +=
					op->kind == RADDLE_MUTEX_LOCK ? 1 : -1;
		}
		for (int n = 0; n < LOCKS; n++)
			assert_int_equal(balance[n], w->held[m->part.from][n] == t + 1);
	}
}

static void check_seed(uint64_t seed)
{
	struct world *w = rd_xcalloc(1, sizeof *w);
	struct model *whole = NULL, *m = NULL;
	struct trace *trace;

	w->random = rd_random_of(seed, 12);
	trace = make_trace(w);
	assert_int_equal(model_build(&whole, trace, MODEL_HISTORIES), RD_OK);
	assert_true(whole->histories[0].access_count > STEPS / 20);
	assert_int_equal(model_build(&m, trace, MODEL_PARTS), RD_OK);
	for (int round = 0; round < 20; round++) {
		uint64_t from = 1 + pick(w, w->q), to = from + 1 + pick(w, w->q - from + 1);

		assert_int_equal(model_load(m, (struct model_part){from, to}), RD_OK);
		for (int t = 0; t < THREADS; t++)
			check_history(&whole->histories[t], &m->histories[t], m->part);
		check_held(w, m);
	}
	rd_remove_tree(trace_path(trace));
	model_free(m);
	model_free(whole);
	trace_close(trace);
	free(w);
}

static void parts_are_what_the_whole_has(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		print_message("seed %llu\n", (unsigned long long)seed);
		check_seed(seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(parts_are_what_the_whole_has)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
