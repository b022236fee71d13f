// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the order of a walk, compared with a sort, and of the names of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "epa-fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RECORDS 3000

struct expected {
	uint64_t key, value;
	unsigned thread;
	size_t nth; /* its number in its thread */
};

static struct expected expected[RECORDS + FIX_THREADS];
static size_t expected_count;
static uint32_t seed = 11;

static uint32_t rnd(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

static int compare(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->nth < y->nth ? -1 : x->nth > y->nth;
}

/* Makes the threads of a random run.  Every record has a different value. */
static void random_run(struct fix *f)
{
	uint64_t last[FIX_THREADS] = {0};
	expected_count = 0;
	for (unsigned t = 0; t < FIX_THREADS; t++) {
		FIX_EVENT(f, t, RADDLE_THREAD_START, t ? rnd(t) : 0, t, 0x1000 * t, 0x1000, 0);
		last[t] = f->q;
		expected[expected_count] = (struct expected){f->q, 0, t, expected_count};
		expected_count++;
	}
	for (unsigned i = 0; i < RECORDS; i++) {
		unsigned t = rnd(FIX_THREADS);
		uint64_t value = 1000 + i;
		if (rnd(4) == 0) {
			FIX_EVENT(f, t, RADDLE_ALLOC, value, 8, 0);
			last[t] = f->q;
		} else {
			FIX(f, t, FIX_LOAD, value, value);
		}
		expected[expected_count] = (struct expected){last[t], value, t, expected_count};
		expected_count++;
	}
	qsort(expected, expected_count, sizeof *expected, compare);
}

static void walk_all(struct epa_source *s)
{
	struct epa_walk *w;
	struct trace_record r;
	size_t count = 0;
	assert_int_equal(epa_walk_open(&w, s), RD_OK);
	for (; epa_walk_next(w, &r) > 0; count++) {
		const struct expected *e = &expected[count];
		assert_true(count < expected_count);
		assert_int_equal(r.thread, e->thread);
		assert_int_equal(epa_walk_number(w, epa_walk_place(w)), e->thread);
		if (e->value)
			assert_int_equal(r.address, e->value);
	}
	assert_int_equal(count, expected_count);
	assert_int_equal(epa_walk_error(w), 0);
	epa_walk_close(w);
}

static void order(void **state)
{
	struct fix f;
	(void)state;
	fix_init(&f);
	for (unsigned round = 0; round < 20; round++) {
		fix_clear(&f);
		random_run(&f);
		struct epa_source *s = fix_source(&f);
		walk_all(s);
		walk_all(s);
		epa_source_close(s);
	}
	fix_release(&f);
}

/* Walks over a thread whose records are in several buffers. */
static void many_buffers(void **state)
{
	struct fix f;
	struct epa_source *s;
	struct epa_walk *w;
	struct trace_record r;
	size_t count = 0;
	(void)state;
	fix_init(&f);
	epa_source_of_memory(&s, f.layout, f.sites);
	FIX_EVENT(&f, 3, RADDLE_THREAD_START, 0, 0, 0x1000, 0x1000, 0);
	size_t one = f.raw[3].length;
	for (unsigned i = 0; i < 9; i++)
		FIX(&f, 3, FIX_LOAD, 8 * i, i);
	size_t each = (f.raw[3].length - one) / 9;
	epa_source_add(s, 3, f.raw[3].data, one + 2 * each);
	epa_source_add(s, 3, f.raw[3].data, 0);
	epa_source_add(s, 3, f.raw[3].data + one + 2 * each, 7 * each);
	assert_int_equal(epa_walk_open(&w, s), RD_OK);
	for (; epa_walk_next(w, &r) > 0; count++)
		if (count > 0)
			assert_int_equal(r.value, count - 1);
	assert_int_equal(count, 10);
	epa_walk_close(w);
	epa_source_close(s);
	fix_release(&f);
}

/* Walks over a thread in a file whose pages are released while it is read.  It can be read
 * again. */
static void mapped_buffers(void **state)
{
	struct fix f;
	struct epa_source *s;
	struct epa_walk *w;
	struct trace_record r;
	int fd = rd_temporary_file();
	(void)state;
	fix_init(&f);
	epa_source_of_memory(&s, f.layout, f.sites);
	FIX_EVENT(&f, 3, RADDLE_THREAD_START, 0, 0, 0x1000, 0x1000, 0);
	size_t one = f.raw[3].length;
	for (unsigned i = 0; i < 900; i++)
		FIX(&f, 3, FIX_LOAD, 8 * i, i);
	size_t each = (f.raw[3].length - one) / 900;
	assert_true(fd >= 0 && !ftruncate(fd, (off_t)f.raw[3].length));
	char *map = mmap(NULL, f.raw[3].length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	memcpy(map, f.raw[3].data, f.raw[3].length);
	epa_source_add_mapped(s, 3, map, one + 400 * each, map);
	epa_source_add_mapped(s, 3, map + one + 400 * each, 500 * each, map);
	for (unsigned again = 0; again < 2; again++) {
		size_t count = 0;
		assert_int_equal(epa_walk_open(&w, s), RD_OK);
		for (; epa_walk_next(w, &r) > 0; count++)
			if (count > 0)
				assert_int_equal(r.value, count - 1);
		assert_int_equal(count, 901);
		epa_walk_close(w);
	}
	epa_source_close(s);
	munmap(map, f.raw[3].length);
	close(fd);
	fix_release(&f);
}

static void names(void **state)
{
	struct fix f;
	struct epa_walk *w;
	(void)state;
	fix_init(&f);
	FIX_EVENT(&f, 0, RADDLE_THREAD_START, 0, 0, 0, 0, 0);
	FIX_EVENT(&f, 1, RADDLE_THREAD_START, 0, 1, 0, 0, 0);
	FIX_EVENT(&f, 2, RADDLE_THREAD_START, 0, 0, 0, 0, 0);
	FIX_EVENT(&f, 4, RADDLE_THREAD_START, 2, 3, 0, 0, 0);
	FIX(&f, 5, FIX_LOAD, 1, 1);
	FIX_EVENT(&f, 6, RADDLE_THREAD_START, 7, 0, 0, 0, 0);
	struct epa_source *s = fix_source(&f);
	assert_int_equal(epa_walk_open(&w, s), RD_OK);
	assert_string_equal(epa_thread_name(w, 0), "T_0");
	assert_string_equal(epa_thread_name(w, 1), "T_0_1");
	assert_string_equal(epa_thread_name(w, 2), "T_0_0");
	assert_string_equal(epa_thread_name(w, 4), "T_0_0_3");
	assert_string_equal(epa_thread_name(w, 5), "T_?5");
	assert_string_equal(epa_thread_name(w, 6), "T_?6");
	assert_string_equal(epa_thread_name(w, 99), "T_?99");
	assert_non_null(epa_walk_start(w, 4));
	assert_null(epa_walk_start(w, 5));
	epa_walk_close(w);
	epa_source_close(s);
	fix_release(&f);
}

/* A damaged record ends the records of its thread. */
static void damage(void **state)
{
	struct fix f;
	struct epa_walk *w;
	struct trace_record r;
	size_t count = 0;
	(void)state;
	fix_init(&f);
	rd_log_set(rd_log_discard, NULL);
	FIX_EVENT(&f, 0, RADDLE_THREAD_START, 0, 0, 0, 0, 0);
	FIX_EVENT(&f, 1, RADDLE_THREAD_START, 0, 0, 0, 0, 0);
	fix_put(&f, 0, 0x0f, 1);
	FIX(&f, 1, FIX_LOAD, 1, 1);
	struct epa_source *s = fix_source(&f);
	assert_int_equal(epa_walk_open(&w, s), RD_OK);
	while (epa_walk_next(w, &r) > 0)
		count++;
	assert_int_equal(count, 3);
	assert_int_not_equal(epa_walk_error(w), 0);
	epa_walk_close(w);
	epa_source_close(s);
	rd_log_set(NULL, NULL);
	fix_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order), cmocka_unit_test(many_buffers), cmocka_unit_test(mapped_buffers),
		cmocka_unit_test(names), cmocka_unit_test(damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
