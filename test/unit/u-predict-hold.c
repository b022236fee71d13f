// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of where a schedule stops a thread.  The members `after` and `occurrence` of every
 * race predicted from random traces are recounted in the list of what was written to the trace.
 * The traces mix things that a careless count would confuse: allocations, atomics and requests
 * between accesses, private memory, strides, and ranges over two objects.
 *
 * Also tests how long a recorded access represents later ones.  Which accesses are unsure is
 * compared with a slow check of each pair.  An operation ends the validity of earlier accesses; an
 * allocation or a counter's update does not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/varint.h"
#include "finding/schedule.h"
#include "predict/describe-int.h"
#include "trace/encode-int.h"
#include "trace/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define THREADS 3
#define ROUNDS 60
#define STEPS 120
#define SHARED 0x10000 /* two objects of 32 bytes, next to each other */
#define PRIVATE 0x20000
#define MUTEX 0x30000

/* Site 1 reads 4 bytes, 2 writes 4, 3 writes 8.  Site 4 writes a range, 5 is an atomic addition,
 * and 6 is a call. */
static const char table[] = "raddle-sites\t1\n"
			    "U\t0\t1\tu.c\n"
			    "F\t0\tu.c\n"
			    "S\t1\tr\t4\t-\t0\t1\t1\tf\t-\t-\n"
			    "S\t2\tw\t4\t-\t0\t2\t1\tf\t-\t-\n"
			    "S\t3\tw\t8\t-\t0\t3\t1\tf\t-\t-\n"
			    "S\t4\trw\t0\t-\t0\t4\t1\tf\t-\t-\n"
			    "S\t5\tax\t4\tx\t0\t5\t1\tf\t-\t-\n"
			    "S\t6\tc\t0\t-\t0\t6\t1\tmain\tf\t-\n";
#define TABLE_RECORDS 8
static const unsigned sizes[] = {0, 4, 4, 8, 0, 4};

static uint64_t seed = 777;

static uint64_t rnd(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/* An entry of a stream: an operation that is numbered in schedules, or an access. */
struct entry {
	bool counted, write;
	uint32_t site;
	uint64_t address, size;
};

struct thread {
	struct trace_encoder e;
	struct entry entries[STEPS * 8];
	size_t count;
	bool locked;
};

static struct thread threads[THREADS];
static uint64_t q;
static unsigned allocations;

static void operation(struct thread *t, enum raddle_event kind, const uint64_t *values)
{
	trace_encode_row(&t->e, kind, values, NULL);
	if (raddle_is_counted(kind))
		t->entries[t->count++] = (struct entry){.counted = true};
}

static void access(struct thread *t, uint32_t site, uint64_t address, uint64_t size)
{
	t->entries[t->count++] =
		(struct entry){.write = site != 1, .site = site, .address = address, .size = size};
}

static uint64_t somewhere(unsigned thread)
{
	return rnd(3) ? SHARED + rnd(7) * 8 : PRIVATE + thread * 0x100 + rnd(4) * 8;
}

static void stride(struct thread *t, uint64_t address)
{
	uint32_t site = 1 + (uint32_t)rnd(2);
	uint64_t count = 1 + rnd(3);

	rd_buf_addc(&t->e.out, RADDLE_STRIDE);
	trace_encode_site(&t->e, site);
	trace_encode_slot(&t->e, address);
	trace_encode_varint(&t->e, rd_zigzag(4));
	trace_encode_varint(&t->e, count);
	for (uint64_t i = 0; i < count; i++)
		access(t, site, address + 4 * i, sizes[site]);
	t->e.slots[site] = address + 4 * (count - 1);
}

static void touch(struct thread *t, unsigned number)
{
	uint64_t address = somewhere(number);
	uint32_t site = 1 + (uint32_t)rnd(5);

	if (rnd(5) == 0) {
		stride(t, address);
		return;
	}
	if (site == 4) {
		uint64_t length = 1 + rnd(40);
		trace_encode_row(&t->e, RADDLE_RANGE, (uint64_t[]){site, address, length}, NULL);
		access(t, site, address, length);
	} else if (site == 5) {
		trace_encode_row(&t->e, RADDLE_ATOMIC, (uint64_t[]){q++, site, address, 1 + 2 * rnd(2)},
				 NULL);
		access(t, site, address, sizes[site]);
	} else {
		trace_encode_access(&t->e, site, address);
		access(t, site, address, sizes[site]);
	}
}

static void step(unsigned number)
{
	struct thread *t = &threads[number];
	bool taken = threads[0].locked || threads[1].locked || threads[2].locked;

	switch (rnd(8)) {
	case 0:
		if (taken && !t->locked)
			return;
		if (!t->locked && rnd(2))
			operation(t, RADDLE_MUTEX_REQUEST, (uint64_t[]){q++, 0, MUTEX});
		operation(t, t->locked ? RADDLE_MUTEX_UNLOCK : RADDLE_MUTEX_LOCK,
			  (uint64_t[]){q++, 0, MUTEX, 0});
		t->locked = !t->locked;
		break;
	case 1:
		operation(t, RADDLE_ALLOC,
			  (uint64_t[]){q++, 0x100000 + 64 * allocations++, 16, RADDLE_ALLOC_MALLOC});
		break;
	default: touch(t, number);
	}
}

static void begin_trace(void)
{
	memset(threads, 0, sizeof threads);
	q = 1;
	allocations = 0;
	for (unsigned i = 0; i < THREADS; i++)
		trace_encode_reset(&threads[i].e);
	operation(&threads[0], RADDLE_THREAD_START, (uint64_t[]){q++, 0, 0, 0, 0, 0, 1});
	for (uint64_t i = 0; i < 2; i++)
		operation(&threads[0], RADDLE_ALLOC,
			  (uint64_t[]){q++, SHARED + 32 * i, 32, RADDLE_ALLOC_MALLOC});
	operation(&threads[0], RADDLE_ALLOC, (uint64_t[]){q++, PRIVATE, 0x400, RADDLE_ALLOC_MALLOC});
	for (uint64_t i = 1; i < THREADS; i++) {
		operation(&threads[0], RADDLE_THREAD_CREATE, (uint64_t[]){q++, 0, i, i - 1, 0});
		operation(&threads[i], RADDLE_THREAD_START, (uint64_t[]){q++, 0, 0, i - 1, 0, 0, 1});
	}
}

static void make_trace(void)
{
	begin_trace();
	for (unsigned i = 0; i < STEPS; i++)
		step((unsigned)rnd(THREADS));
}

static void write_trace(const char *directory)
{
	struct trace_writer *w = NULL;
	struct trace_meta meta = {.complete = true};
	char path[128];

	assert_int_equal(trace_writer_open(&w, directory), RD_OK);
	for (unsigned i = 0; i < THREADS; i++) {
		struct rd_buf *out = &threads[i].e.out;
		assert_int_equal(trace_writer_chunk(w, i, out->data, out->length), RD_OK);
		rd_buf_release(out);
	}
	assert_int_equal(trace_writer_meta(w, &meta), RD_OK);
	assert_int_equal(trace_writer_close(w), RD_OK);
	char *text = rd_xasprintf("%send\t%d\t%016llx\n", table, TABLE_RECORDS,
				  (unsigned long long)XXH64(table, strlen(table), 0));
	snprintf(path, sizeof path, "%s/sites", directory);
	assert_int_equal(rd_file_write(path, text, strlen(text)), RD_OK);
	free(text);
}

/* Finds the access of a goal by counting slowly. */
static const struct entry *find(const struct schedule_goal *h)
{
	const struct thread *t = &threads[strcmp(h->thread, "T_0") == 0 ? 0 : 1 + atoi(h->thread + 4)];
	uint64_t after = 0, n = 0;

	for (size_t i = 0; i < t->count; i++) {
		const struct entry *e = &t->entries[i];
		after += e->counted;
		n += after == h->after && !e->counted && e->site == h->site;
		if (n == h->occurrence)
			return e;
	}
	fail_msg("%s has no occurrence %llu of site %u after operation %llu", h->thread,
		 (unsigned long long)h->occurrence, h->site, (unsigned long long)h->after);
	return NULL;
}

static uint64_t address_of(const char *object)
{
	unsigned ordinal = 0;
	unsigned long long offset = 0;

	assert_true(sscanf(object, "heap T_0#%u+%llu", &ordinal, &offset) >= 1);
	return SHARED + 32 * ordinal + offset;
}

static void check_holds(const struct finding *f)
{
	const struct schedule *s = f->schedule;

	assert_int_equal(s->goal_count, 2);
	for (int i = 0; i < 2; i++) {
		const struct entry *e = find(&s->goals[i]);
		uint64_t address = address_of(s->goals[i].object);
		assert_int_equal(e->write, s->goals[i].write);
		assert_true(e->address <= address && address < e->address + e->size);
	}
}

static size_t check_trace(const char *directory)
{
	struct trace *trace = NULL;
	struct model *m = NULL;
	struct predict_trace t;
	struct predict_result r;
	struct predict_opts o = {0};
	struct finding_set *set = finding_set_new();

	assert_int_equal(trace_open(&trace, directory, false), RD_OK);
	assert_int_equal(model_build(&m, trace, MODEL_HISTORIES), RD_OK);
	assert_int_equal(m->err, 0);
	assert_int_equal(predict_fill(&t, m), RD_OK);
	assert_int_equal(t.dropped, 0);
	assert_int_equal(predict_run(&t.x, &o, &r), RD_OK);
	assert_int_equal(predict_describe(&t, &r, set, (struct predict_limit){.findings = 1000}), 0);
	size_t n = set->count;
	for (size_t i = 0; i < n; i++)
		check_holds(set->items[i]);
	finding_set_free(set);
	predict_result_release(&r);
	predict_trace_release(&t);
	model_free(m);
	trace_close(trace);
	return n;
}

static void test_holds(void **state)
{
	size_t races = 0;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		char directory[] = "/tmp/u-predict-hold-XXXXXX";
		assert_non_null(mkdtemp(directory));
		make_trace();
		write_trace(directory);
		races += check_trace(directory);
		rd_remove_tree(directory);
	}
	assert_true(races > 5 * ROUNDS);
}

#define VARIABLES 4

/* A plain access, and the q of the records between which it may have happened again. */
struct span {
	unsigned variable;
	bool write;
	uint64_t begin, end;
};

static struct span spans[THREADS][STEPS + VARIABLES];
static size_t span_count[THREADS];

/* Adds an access, but only one of each variable between two records with q, because a second one
 * would be redundant. */
static void touch_once(unsigned number, unsigned variable, uint64_t since)
{
	struct thread *t = &threads[number];
	uint32_t site = 1 + (uint32_t)rnd(2);

	for (size_t i = 0; i < span_count[number]; i++)
		if (spans[number][i].variable == variable && spans[number][i].begin == since)
			return;
	trace_encode_access(&t->e, site, SHARED + 8 * variable);
	spans[number][span_count[number]++] = (struct span){variable, site == 2, since, UINT64_MAX};
}

static void end_spans(unsigned number)
{
	for (size_t i = 0; i < span_count[number]; i++)
		if (spans[number][i].end == UINT64_MAX)
			spans[number][i].end = q;
}

/* Adds a record with q.  Returns whether it ends the segment. */
static bool some_record(struct thread *t)
{
	uint64_t way = rnd(4);

	if (way == 0)
		operation(t, RADDLE_SEM_POST, (uint64_t[]){q, 0, MUTEX, 0});
	else if (way == 1)
		operation(t, RADDLE_ALLOC,
			  (uint64_t[]){q, 0x100000 + 64 * allocations++, 16, RADDLE_ALLOC_MALLOC});
	else
		trace_encode_row(&t->e, RADDLE_ATOMIC,
				 (uint64_t[]){q, 5, SHARED + 32,
					      way == 2 ? RADDLE_ATOMIC_STORED
						       : RADDLE_ATOMIC_STORED | RADDLE_ATOMIC_PASSED},
				 NULL);
	return way == 0 || way == 2;
}

static void make_spans(void)
{
	uint64_t since[THREADS];

	memset(span_count, 0, sizeof span_count);
	for (unsigned i = 0; i < THREADS; i++) {
		trace_encode_row(&threads[i].e, RADDLE_ATOMIC,
				 (uint64_t[]){since[i] = q++, 5, SHARED + 32, RADDLE_ATOMIC_STORED}, NULL);
		for (unsigned v = 0; v < VARIABLES; v++)
			touch_once(i, v, since[i]);
	}
	for (unsigned i = 0; i < STEPS; i++) {
		unsigned number = (unsigned)rnd(THREADS);
		if (rnd(3)) {
			touch_once(number, (unsigned)rnd(VARIABLES), since[number]);
			continue;
		}
		if (some_record(&threads[number]))
			end_spans(number);
		since[number] = q++;
	}
}

static bool is_unsure(unsigned thread, const struct span *a)
{
	for (unsigned i = 0; i < THREADS; i++)
		for (size_t k = 0; i != thread && k < span_count[i]; k++) {
			const struct span *w = &spans[i][k];
			if (w->write && w->variable == a->variable && w->begin < a->end && a->begin < w->end)
				return true;
		}
	return false;
}

static size_t check_spans(const char *directory)
{
	struct trace *trace = NULL;
	struct model *m = NULL;
	struct predict_trace t;
	size_t at[THREADS] = {0}, unsure = 0;

	assert_int_equal(trace_open(&trace, directory, false), RD_OK);
	assert_int_equal(model_build(&m, trace, MODEL_HISTORIES), RD_OK);
	assert_int_equal(predict_fill(&t, m), RD_OK);
	for (size_t i = 0; i < t.x.count; i++) {
		const struct exec_event *e = &t.x.events[i];
		if (!exec_is_access(e->kind) || e->flags & EXEC_ATOMIC)
			continue;
		bool expected = is_unsure(e->thread, &spans[e->thread][at[e->thread]++]);
		assert_int_equal((e->flags & EXEC_UNSURE) != 0, expected);
		unsure += expected;
	}
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(at[i], span_count[i]);
	predict_trace_release(&t);
	model_free(m);
	trace_close(trace);
	return unsure;
}

static void test_spans(void **state)
{
	size_t unsure = 0;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		char directory[] = "/tmp/u-predict-hold-XXXXXX";
		assert_non_null(mkdtemp(directory));
		begin_trace();
		make_spans();
		write_trace(directory);
		unsure += check_spans(directory);
		rd_remove_tree(directory);
	}
	assert_true(unsure > 5 * ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_holds), cmocka_unit_test(test_spans)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
