// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the model, which compare it with a slow, obvious reference on random traces.  They
 * test which object is at an address at a given time, which bytes are shared, what each thread did,
 * and the names of threads and places.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "model/model.h"
#include "trace/encode-int.h"
#include "trace/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define THREADS 4
#define HEAP 0x10000
#define PROGRAM 0x400000
#define ACCESSES 4000

/* Sites 1 to 4 read 1, 2, 4 and 8 bytes, and 5 to 8 write them.  Site 9 writes a range, and 10 is a
 * call. */
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
			    "S\t8\tw\t8\t-\t0\t8\t1\tf\t-\t-\n"
			    "S\t9\trw\t0\t-\t0\t9\t1\tf\t-\t-\n"
			    "S\t10\tc\t0\t-\t0\t10\t1\tmain\tf\t-\n"
			    "G\trows\trows\t64\t0\t1\tstruct row[2]\n"
			    "G\tmain.n\tn.1\t4\t0\t1\tint\n"
			    "T\tstruct row\t32\thead\t0\t8\tlong\n"
			    "T\tstruct row\t32\tcell\t8\t24\tstruct cell[3]\n"
			    "T\tstruct cell\t8\ta\t0\t4\tint\n"
			    "T\tstruct cell\t8\tlock\t4\t4\tpthread_spinlock_t\n"
			    "T\tpthread_spinlock_t\t4\thidden\t0\t4\tint\n"
			    "A\tprog\t256\t64\trows\n"
			    "A\tprog\t320\t4\tn.1\n";
#define TABLE_RECORDS 21

static uint64_t seed = 12345;

static uint64_t rnd(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/* Objects and accesses of the twin. */
struct object {
	uint64_t base, size, begin, end;
	unsigned thread, ordinal, freer;
};

struct access {
	unsigned thread;
	uint64_t address, size, q;
	bool write;
};

struct twin {
	struct object objects[2000];
	struct access accesses[ACCESSES];
	size_t object_count, access_count;
};

static char directory[64];

static void write_trace(struct trace_encoder *encoders, unsigned threads)
{
	struct trace_writer *w = NULL;
	struct trace_meta meta = {.complete = true};
	char path[128];
	strcpy(directory, "/tmp/u-model-XXXXXX");
	assert_non_null(mkdtemp(directory));
	assert_int_equal(trace_writer_open(&w, directory), RD_OK);
	for (unsigned i = 0; i < threads; i++) {
		assert_int_equal(trace_writer_chunk(w, i, encoders[i].out.data, encoders[i].out.length),
				 RD_OK);
		rd_buf_release(&encoders[i].out);
	}
	assert_int_equal(trace_writer_meta(w, &meta), RD_OK);
	assert_int_equal(trace_writer_close(w), RD_OK);
	char *text = rd_xasprintf("%send\t%d\t%016llx\n", table, TABLE_RECORDS,
				  (unsigned long long)XXH64(table, strlen(table), 0));
	snprintf(path, sizeof path, "%s/sites", directory);
	assert_int_equal(rd_file_write(path, text, strlen(text)), RD_OK);
	free(text);
}

static struct model *read_model(struct trace **trace)
{
	struct model *m = NULL;
	assert_int_equal(trace_open(trace, directory, false), RD_OK);
	assert_int_equal(model_build(&m, *trace, MODEL_HISTORIES), RD_OK);
	assert_int_equal(m->err, 0);
	rd_remove_tree(directory);
	return m;
}

static bool overlaps_live(const struct twin *t, uint64_t base, uint64_t size)
{
	for (size_t i = 0; i < t->object_count; i++) {
		const struct object *o = &t->objects[i];
		if (o->end == MODEL_FOREVER && base < o->base + o->size && o->base < base + size)
			return true;
	}
	return false;
}

static void random_alloc(struct twin *t, struct trace_encoder *e, unsigned thread, uint64_t *q)
{
	static const uint64_t sizes[] = {16, 24, 64, 200, 1000, 5000};
	uint64_t size = sizes[rnd(6)], base = HEAP + rnd(512) * 16;
	unsigned ordinal = 0;
	if (overlaps_live(t, base, size) || t->object_count == 2000)
		return;
	for (size_t i = 0; i < t->object_count; i++)
		ordinal += t->objects[i].thread == thread;
	t->objects[t->object_count++] = (struct object){base, size, *q, MODEL_FOREVER, thread, ordinal, 0};
	trace_encode_row(e, RADDLE_ALLOC, (uint64_t[]){(*q)++, base, size, RADDLE_ALLOC_MALLOC}, NULL);
}

static void random_free(struct twin *t, struct trace_encoder *e, unsigned thread, uint64_t *q)
{
	size_t i = t->object_count > 0 ? rnd(t->object_count) : 0;
	if (t->object_count == 0 || t->objects[i].end != MODEL_FOREVER)
		return;
	t->objects[i].end = *q;
	t->objects[i].freer = thread;
	trace_encode_row(e, RADDLE_FREE, (uint64_t[]){(*q)++, t->objects[i].base, 0}, NULL);
}

/* Adds an access inside a living object. */
static void random_access(struct twin *t, struct trace_encoder *e, unsigned thread, uint64_t q)
{
	size_t i = t->object_count > 0 ? rnd(t->object_count) : 0;
	const struct object *o = &t->objects[i];
	uint64_t site = 1 + rnd(9), size = 1ull << (site - 1) % 4;
	if (t->object_count == 0 || o->end != MODEL_FOREVER || t->access_count == ACCESSES)
		return;
	if (site == 9)
		size = 1 + rnd(o->size);
	uint64_t address = o->base + rnd(o->size - size + 1);
	if (site == 9)
		trace_encode_row(e, RADDLE_RANGE, (uint64_t[]){9, address, size}, NULL);
	else
		trace_encode_access(e, (uint32_t)site, address);
	t->accesses[t->access_count++] = (struct access){thread, address, size, q, site >= 5};
}

static void random_trace(struct twin *t)
{
	struct trace_encoder encoders[THREADS] = {0};
	uint64_t q = 1;
	uint64_t last_q[THREADS];
	memset(t, 0, sizeof *t);
	for (unsigned i = 0; i < THREADS; i++) {
		trace_encode_reset(&encoders[i]);
		last_q[i] = q;
		trace_encode_row(&encoders[i], RADDLE_ORDER, (uint64_t[]){q++}, NULL);
	}
	for (int n = 0; n < 3000; n++) {
		unsigned thread = (unsigned)rnd(THREADS);
		struct trace_encoder *e = &encoders[thread];
		uint64_t before = q;
		unsigned what = (unsigned)rnd(10);
		if (what == 0)
			random_alloc(t, e, thread, &q);
		else if (what == 1)
			random_free(t, e, thread, &q);
		else {
			/* The thread synchronises first, so that the object exists for it. */
			last_q[thread] = q;
			trace_encode_row(e, RADDLE_ORDER, (uint64_t[]){q++}, NULL);
			random_access(t, e, thread, last_q[thread]);
			random_access(t, e, thread, last_q[thread]);
		}
		if (q != before)
			last_q[thread] = q - 1;
	}
	write_trace(encoders, THREADS);
}

static const struct object *twin_find(const struct twin *t, uint64_t address, uint64_t q)
{
	for (size_t i = 0; i < t->object_count; i++) {
		const struct object *o = &t->objects[i];
		if (address - o->base < o->size && o->begin <= q && q < o->end)
			return o;
	}
	return NULL;
}

static bool twin_shared(const struct twin *t, const struct object *o, uint64_t byte)
{
	unsigned threads = 0;
	bool written = false;
	for (size_t i = 0; i < t->access_count; i++) {
		const struct access *a = &t->accesses[i];
		if (o->base + byte - a->address >= a->size || a->q < o->begin || a->q >= o->end)
			continue;
		threads |= 1u << a->thread;
		written |= a->write;
	}
	/* a release counts as a write to all bytes that were accessed */
	if (threads && o->end != MODEL_FOREVER) {
		threads |= 1u << o->freer;
		written = true;
	}
	return written && threads & (threads - 1);
}

static void check_objects(const struct twin *t, const struct model *m)
{
	for (size_t i = 0; i < t->access_count; i++) {
		const struct access *a = &t->accesses[i];
		const struct object *o = twin_find(t, a->address, a->q);
		uint32_t found = model_find(m, a->address, a->q);
		assert_non_null(o);
		assert_int_not_equal(found, MODEL_NONE);
		const struct model_object *got = &m->objects[found];
		assert_true(got->base == o->base && got->begin == o->begin && got->end == o->end);
		assert_int_equal(got->ordinal, o->ordinal);
		assert_int_equal(m->threads[got->thread].number, o->thread);
	}
}

static void check_sharing(const struct twin *t, const struct model *m)
{
	uint64_t shared_total = 0;
	for (size_t i = 0; i < t->object_count; i++) {
		const struct object *o = &t->objects[i];
		uint32_t object = model_find(m, o->base, o->begin);
		uint64_t count = 0;
		for (uint64_t byte = 0; byte < o->size; byte++) {
			bool expected = twin_shared(t, o, byte);
			assert_int_equal(model_is_shared(m, object, byte, 1), expected);
			count += expected;
		}
		assert_int_equal(model_shared_bytes(m, object), count);
		assert_int_equal(!!(m->objects[object].flags & MODEL_SHARED), count > 0);
		shared_total += count;
	}
	assert_true(shared_total > 0); /* otherwise the test has tested nothing */
}

static void check_histories(const struct twin *t, const struct model *m)
{
	size_t seen[THREADS] = {0};
	for (size_t i = 0; i < t->access_count; i++) {
		const struct access *a = &t->accesses[i];
		const struct object *o = twin_find(t, a->address, a->q);
		bool shared = false;
		for (uint64_t k = 0; k < a->size; k++)
			shared |= twin_shared(t, o, a->address - o->base + k);
		if (!shared)
			continue;
		const struct model_history *h = &m->histories[a->thread];
		assert_true(seen[a->thread] < h->access_count);
		const struct model_access *got = &h->accesses[seen[a->thread]++];
		assert_true(m->objects[got->object].base + got->offset == a->address);
		assert_true(got->size == a->size && got->write == a->write);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(seen[i], m->histories[i].access_count);
		assert_int_equal(m->histories[i].operation_count, m->threads[i].operations);
	}
}

static void test_random_traces(void **state)
{
	struct twin *t = rd_xmalloc(sizeof *t);
	(void)state;
	for (int round = 0; round < 4; round++) {
		struct trace *trace = NULL;
		random_trace(t);
		struct model *m = read_model(&trace);
		check_objects(t, m);
		check_sharing(t, m);
		check_histories(t, m);
		model_free(m);
		trace_close(trace);
	}
	free(t);
}

#define LARGE (20ull << 20)

/* Makes a trace with ranges of all lengths in one large object, which may be released at the
 * end. */
static void large_trace(struct twin *t, bool released)
{
	struct trace_encoder encoders[THREADS] = {0};
	uint64_t q = 1;
	memset(t, 0, sizeof *t);
	for (unsigned i = 0; i < THREADS; i++)
		trace_encode_reset(&encoders[i]);
	t->objects[t->object_count++] = (struct object){HEAP, LARGE, q, MODEL_FOREVER, 0, 0, 0};
	trace_encode_row(&encoders[0], RADDLE_ALLOC, (uint64_t[]){q++, HEAP, LARGE, RADDLE_ALLOC_MALLOC},
			 NULL);
	for (unsigned i = 0; i < 14; i++) {
		unsigned thread = (unsigned)rnd(THREADS), site = rnd(2) ? 9 : 1;
		uint64_t size = 1 + rnd(16ull << rnd(18)), offset = rnd(LARGE - size);
		if (rnd(3) == 0)
			offset &= ~0xffffull;
		trace_encode_row(&encoders[thread], RADDLE_ORDER, (uint64_t[]){q}, NULL);
		trace_encode_row(&encoders[thread], RADDLE_RANGE, (uint64_t[]){site, HEAP + offset, size},
				 NULL);
		t->accesses[t->access_count++] = (struct access){thread, HEAP + offset, size, q++, site == 9};
	}
	if (released) {
		t->objects[0].freer = (unsigned)rnd(THREADS);
		t->objects[0].end = q;
		trace_encode_row(&encoders[t->objects[0].freer], RADDLE_FREE, (uint64_t[]){q++, HEAP, 0},
				 NULL);
	}
	write_trace(encoders, THREADS);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Compares one byte between each two borders of accesses, because all bytes there are equal. */
static uint64_t check_large(const struct twin *t, const struct model *m)
{
	uint64_t borders[2 * 14 + 2], total = 0;
	size_t count = 0;
	uint32_t object = model_find(m, HEAP, 1);
	borders[count++] = 0;
	borders[count++] = LARGE;
	for (size_t i = 0; i < t->access_count; i++) {
		borders[count++] = t->accesses[i].address - HEAP;
		borders[count++] = t->accesses[i].address - HEAP + t->accesses[i].size;
	}
	qsort(borders, count, sizeof *borders, by_value);
	for (size_t i = 0; i + 1 < count; i++) {
		uint64_t from = borders[i], size = borders[i + 1] - from;
		bool expected = size && twin_shared(t, &t->objects[0], from);
		if (!size)
			continue;
		assert_int_equal(model_is_shared(m, object, from, size), expected);
		assert_int_equal(model_is_shared(m, object, from, 1), expected);
		assert_int_equal(model_is_shared(m, object, from + size - 1, 1), expected);
		assert_int_equal(model_is_shared(m, object, from + rnd(size), 1), expected);
		total += expected ? size : 0;
	}
	assert_int_equal(model_shared_bytes(m, object), total);
	return total;
}

static void test_large_objects(void **state)
{
	struct twin *t = rd_xmalloc(sizeof *t);
	unsigned shared = 0;
	(void)state;
	for (int round = 0; round < 60; round++) {
		struct trace *trace = NULL;
		large_trace(t, round % 2);
		struct model *m = read_model(&trace);
		shared += check_large(t, m) > 0;
		model_free(m);
		trace_close(trace);
	}
	assert_true(shared > 20); /* otherwise the test has tested nothing */
	free(t);
}

static void assert_place(const struct model *m, uint64_t address, uint64_t q, const char *expected)
{
	struct rd_buf b = RD_BUF_INIT;
	model_name_address(m, address, q, &b);
	assert_string_equal(b.data, expected);
	rd_buf_release(&b);
}

static void put_start(struct trace_encoder *e, uint64_t q, uint64_t parent, uint64_t index)
{
	trace_encode_reset(e);
	trace_encode_row(e, RADDLE_THREAD_START,
			 (uint64_t[]){q, q, parent, index, 0x7000 * (q + 1), 0x1000, q}, NULL);
}

/* Thread 0 creates thread 1, thread 1 creates thread 2, and thread 0 creates thread 3. */
static void test_names(void **state)
{
	struct trace_encoder e[4] = {0};
	struct trace *trace = NULL;
	(void)state;
	put_start(&e[0], 0, 0, 0);
	trace_encode_row(&e[0], RADDLE_MODULE, (uint64_t[]){PROGRAM, 4096, PROGRAM, 9}, "/bin/prog");
	trace_encode_row(&e[0], RADDLE_THREAD_NAME, (uint64_t[]){4}, "boss");
	put_start(&e[1], 2, 0, 0);
	put_start(&e[2], 3, 1, 0);
	put_start(&e[3], 4, 0, 1);
	trace_encode_row(&e[1], RADDLE_ALLOC, (uint64_t[]){5, 0x9000, 32, 0}, NULL);
	trace_encode_row(&e[1], RADDLE_ALLOC, (uint64_t[]){6, 0xa000, 32, RADDLE_ALLOC_MMAP}, NULL);
	trace_encode_row(&e[3], RADDLE_FREE, (uint64_t[]){7, 0x9000, 0}, NULL);
	trace_encode_row(&e[2], RADDLE_ALLOC, (uint64_t[]){8, 0x8ff0, 64, 0}, NULL);
	trace_encode_row(&e[2], RADDLE_UNMAP, (uint64_t[]){9, 0xa000, 4096}, NULL);
	write_trace(e, 4);
	struct model *m = read_model(&trace);
	const char *names[] = {"T_0", "T_0_0", "T_0_0_0", "T_0_1"};
	for (unsigned i = 0; i < 4; i++)
		assert_string_equal(m->threads[i].name, names[i]);
	assert_string_equal(m->threads[0].label, "boss");
	assert_place(m, PROGRAM + 256, 9, "rows[0].head");
	assert_place(m, PROGRAM + 256 + 32 + 8 + 8 + 4, 9, "rows[1].cell[1].lock");
	assert_place(m, PROGRAM + 256 + 3, 9, "rows[0].head+3");
	assert_place(m, PROGRAM + 320, 9, "main.n");
	assert_place(m, PROGRAM + 16, 9, "prog+0x10");
	assert_place(m, 0x9000, 6, "heap T_0_0#0");
	assert_place(m, 0x9008, 6, "heap T_0_0#0+8");
	assert_place(m, 0x9008, 8, "heap T_0_0_0#0+24"); /* at that time, another object is there */
	assert_place(m, 0xa004, 6, "mmap T_0_0#0+4");
	assert_place(m, 0x9008, 1, "heap T_0_0#0+8");  /* the object that is allocated there next */
	assert_place(m, 0xa004, 20, "mmap T_0_0#0+4"); /* the last object that was there */
	assert_place(m, 0x7000 * 3 + 0xff0, 5, "stack T_0_0-0x10");
	assert_place(m, 0x123456789, 5, "0x123456789");
	model_free(m);
	trace_close(trace);
}

/* Damaged records can make threads each other's parents.  Every thread has a name nevertheless. */
static void test_ring_of_parents(void **state)
{
	struct trace_encoder e[3] = {0};
	struct trace *trace = NULL;
	(void)state;
	put_start(&e[0], 0, 2, 0);
	put_start(&e[1], 1, 2, 5);
	put_start(&e[2], 2, 1, 7);
	write_trace(e, 3);
	struct model *m = read_model(&trace);
	assert_string_equal(m->threads[0].name, "T_0");
	assert_string_equal(m->threads[1].name, "T_1");
	assert_string_equal(m->threads[2].name, "T_1_7");
	model_free(m);
	trace_close(trace);
}

/* Computes for how long threads wait for a mutex and hold it, and how often they compete for it. */
static void test_lock_times(void **state)
{
	struct trace_encoder e[2] = {0};
	struct trace *trace = NULL;
	uint64_t lock = PROGRAM + 320;
	(void)state;
	put_start(&e[0], 0, 0, 0);
	trace_encode_row(&e[0], RADDLE_MODULE, (uint64_t[]){PROGRAM, 4096, PROGRAM, 4}, "prog");
	put_start(&e[1], 1, 0, 0);
	trace_encode_row(&e[0], RADDLE_MUTEX_LOCK, (uint64_t[]){2, 100, lock, 0}, NULL);
	trace_encode_row(&e[1], RADDLE_MUTEX_TRYLOCK, (uint64_t[]){3, 110, lock, 16}, NULL);
	trace_encode_row(&e[1], RADDLE_MUTEX_REQUEST, (uint64_t[]){4, 120, lock}, NULL);
	trace_encode_row(&e[0], RADDLE_MUTEX_UNLOCK, (uint64_t[]){5, 150, lock, 0}, NULL);
	trace_encode_row(&e[1], RADDLE_MUTEX_LOCK, (uint64_t[]){6, 155, lock, 0}, NULL);
	trace_encode_row(&e[1], RADDLE_MUTEX_UNLOCK, (uint64_t[]){7, 157, lock, 0}, NULL);
	write_trace(e, 2);
	struct model *m = read_model(&trace);
	assert_int_equal(m->sync_count, 1);
	const struct model_sync *s = &m->syncs[0];
	assert_int_equal(s->class, RADDLE_CLASS_MUTEX);
	assert_true(s->multi);
	assert_int_equal(s->uses, 2);
	assert_int_equal(s->contended, 1);
	assert_int_equal(s->wait_ns, 35);
	assert_int_equal(s->hold_ns, 52);
	assert_int_equal(s->hold_max_ns, 50);
	assert_int_equal(model_sync(m, RADDLE_CLASS_MUTEX, lock, 5), 0);
	assert_int_equal(model_sync(m, RADDLE_CLASS_SPIN, lock, 5), MODEL_NONE);
	model_free(m);
	trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_traces), cmocka_unit_test(test_large_objects),
		cmocka_unit_test(test_names),	      cmocka_unit_test(test_ring_of_parents),
		cmocka_unit_test(test_lock_times),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
