// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the model with threads that spin, on random traces.  The reference knows which
 * write each read of an atomic variable returned.  If consecutive reads from one site returned the
 * same write, it keeps only the first and the last.  The model must have these reads and all other
 * events, both as a whole and in two parts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "model/model.h"
#include "trace/encode-int.h"
#include "trace/writer.h"

#include <stdlib.h>
#include <string.h>

#define THREADS 3
#define STEPS 3000
#define PLACE 0x10000

struct step {
	unsigned thread;
	bool look;
	uint64_t site, address, q, found; /* q of the write that a read returned; 0: none */
};

struct world {
	struct step steps[STEPS];
	size_t looks; /* number of reads that are left out */
	uint64_t seed;
};

static uint64_t rnd(struct world *w, uint64_t below)
{
	w->seed = rd_hash_add(w->seed, 1);
	return w->seed % below;
}

/* Makes random steps.  Threads read more often than they write, and usually continue at the same
 * site and variable. */
static void make_steps(struct world *w)
{
	uint64_t latest[2] = {0};

	for (size_t i = 0; i < STEPS; i++) {
		struct step *s = &w->steps[i];
		uint64_t variable = rnd(w, 8) == 0;
		*s = (struct step){.thread = (unsigned)rnd(w, THREADS),
				   .look = rnd(w, 20) != 0,
				   .site = 1 + (rnd(w, 9) == 0),
				   .address = PLACE + variable * 64,
				   .q = i + 1,
				   .found = latest[variable]};
		if (!s->look)
			latest[variable] = s->q;
	}
}

static struct trace *write_trace(const struct world *w)
{
	struct trace_encoder encoders[THREADS] = {0};
	struct trace_meta meta = {.complete = true};
	struct trace_writer *out = NULL;
	struct trace *trace = NULL;
	char directory[] = "/tmp/u-model-spin-XXXXXX";

	assert_non_null(mkdtemp(directory));
	for (unsigned t = 0; t < THREADS; t++)
		trace_encode_reset(&encoders[t]);
	for (size_t i = 0; i < STEPS; i++) {
		const struct step *s = &w->steps[i];
		trace_encode_row(&encoders[s->thread], RADDLE_ATOMIC,
				 (uint64_t[]){s->q, s->site, s->address, !s->look}, NULL);
	}
	assert_int_equal(trace_writer_open(&out, directory), RD_OK);
	for (unsigned t = 0; t < THREADS; t++) {
		assert_int_equal(trace_writer_chunk(out, t, encoders[t].out.data, encoders[t].out.length),
				 RD_OK);
		rd_buf_release(&encoders[t].out);
	}
	assert_int_equal(trace_writer_meta(out, &meta), RD_OK);
	assert_int_equal(trace_writer_close(out), RD_OK);
	assert_int_equal(trace_open(&trace, directory, true), RD_OK);
	return trace;
}

static bool same(const struct step *a, const struct step *b)
{
	return a->look && b->look && a->site == b->site && a->address == b->address && a->found == b->found;
}

/* Whether step i of a thread is neither the first nor the last of several equal reads in a row. */
static bool is_between(const struct step **own, size_t i, size_t count)
{
	return i && i + 1 < count && same(own[i - 1], own[i]) && same(own[i], own[i + 1]);
}

static void check_part(struct world *w, const struct model *m)
{
	for (unsigned t = 0; t < THREADS; t++) {
		const struct model_history *h = &m->histories[t];
		const struct step *own[STEPS];
		size_t count = 0, at = 0;
		for (size_t i = 0; i < STEPS; i++)
			if (w->steps[i].thread == t && w->steps[i].q >= m->part.from &&
			    w->steps[i].q < m->part.to)
				own[count++] = &w->steps[i];
		while (at < h->operation_count && h->operations[at].q < m->part.from)
			at++;
		for (size_t i = 0; i < count; i++) {
			if (is_between(own, i, count)) {
				w->looks++;
				continue;
			}
			assert_true(at < h->operation_count);
			assert_int_equal(h->operations[at].q, own[i]->q);
			assert_int_equal(h->operations[at].kind, RADDLE_ATOMIC);
			at++;
		}
		assert_int_equal(at, h->operation_count);
	}
}

/* Returns the number of operations and accesses in the part. */
static uint64_t size_of(const struct model *m)
{
	uint64_t size = 0;

	for (unsigned t = 0; t < THREADS; t++) {
		const struct model_history *h = &m->histories[t];
		for (size_t i = 0; i < h->operation_count; i++)
			size += h->operations[i].q >= m->part.from;
		size += h->access_count;
	}
	return size;
}

/* The parts together are the whole run, one after the other, and none is much larger than
 * allowed. */
static void check_cut(struct model *m, uint64_t most)
{
	struct model_part *parts = NULL;
	size_t count = model_cut(m, most, &parts);
	uint64_t size = 0;

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(parts[i].from, i ? parts[i - 1].to : 0);
		assert_int_equal(model_load(m, parts[i]), RD_OK);
		/* If equal reads in a row are cut, two more of them are kept.  Also, there are
		 * accesses before the part. */
		assert_true(size_of(m) <= most + 6 * THREADS);
		size += size_of(m);
	}
	assert_true(parts[count - 1].to == UINT64_MAX);
	assert_true(count == 1 ? size <= most : size > most);
	free(parts);
}

static void test_random(void **state)
{
	struct world *w = rd_xmalloc(sizeof *w);

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		*w = (struct world){.seed = seed};
		make_steps(w);
		struct trace *trace = write_trace(w);
		uint64_t cut = 1 + rnd(w, STEPS);
		struct model *m = NULL;
		assert_int_equal(model_build(&m, trace, MODEL_HISTORIES), RD_OK);
		check_part(w, m);
		assert_true(w->looks > STEPS / 10);
		assert_int_equal(model_load(m, (struct model_part){0, cut}), RD_OK);
		check_part(w, m);
		assert_int_equal(model_load(m, (struct model_part){cut, UINT64_MAX}), RD_OK);
		check_part(w, m);
		check_cut(m, 300);
		check_cut(m, 100000);
		rd_remove_tree(trace_path(trace));
		model_free(m);
		trace_close(trace);
	}
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
