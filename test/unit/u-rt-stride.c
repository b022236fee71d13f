/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares strides (series of accesses at equal distances) with a slow reference.  The runtime
 * must record exactly the bytes that single accesses would have touched, each at least once.  If a
 * whole stride was recorded, its bytes must not be recorded again in the same segment.  In the
 * test, functions that collect STRIDE records replace the rest of the runtime.
 */
#include "rt/record/stride.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

enum { MEMORY = 1 << 14, BASE = 1 << 20 };

struct raddle_self rt_placeholder;
struct rt rt;
struct rt_guard rt_guard;
__thread struct raddle_self *__raddle_self;
static struct rt_thread *thread;
static uint8_t touched[MEMORY];
static unsigned records, held;

struct rt_thread *rt_thread_adopt(void)
{
	return NULL;
}

uint32_t rt_encoder_take(struct rt_thread *t)
{
	assert_ptr_equal(t, thread);
	assert_int_equal(held++, 0);
	return RT_TAKEN;
}

bool rt_thin_touch(const struct rt_thread *t, uintptr_t address, bool write, bool cold)
{
	(void)t, (void)address, (void)write, (void)cold;
	fail();
	return false;
}

void rt_encoder_leave(struct rt_thread *t)
{
	(void)t;
	assert_int_equal(held--, 1);
}

static uint32_t size_now;

void rt_emit(struct rt_thread *t, const struct rt_record *r)
{
	rt_encoder_leave(t);
	assert_int_equal(r->code, RADDLE_STRIDE | RT_TAKEN);
	assert_in_range(r->operand[2], 1, RADDLE_STRIDE_MAX);
	records++;
	for (uint64_t i = 0; i < r->operand[2]; i++)
		memset(touched + (r->operand[0] + i * r->operand[1] - BASE), 1, size_now);
}

void __raddle_first_read(struct raddle_self *self, uintptr_t a, uint32_t site, uint32_t size)
{
	(void)self, (void)a, (void)site, (void)size;
	fail();
}

void __raddle_first_write(struct raddle_self *self, uintptr_t a, uint32_t site, uint32_t size)
{
	__raddle_first_read(self, a, site, size);
}

/* No layer is notified in this test. */
void rt_notify_stride(struct rt_thread *t, const struct rt_record *stride, uint32_t size, uint32_t how)
{
	(void)t, (void)stride, (void)size, (void)how;
	fail();
}

struct walk_plan {
	uintptr_t at;
	uint64_t count;
	int64_t by;
	uint32_t size;
};

static struct walk_plan random_plan(void)
{
	struct walk_plan w = {.size = 1u << rand() % 5};
	int64_t limit;

	w.by = (rand() % 40 - 12) * (int64_t)w.size;
	if (rand() % 4 == 0)
		w.by *= 16;
	w.at = BASE + MEMORY / 2 + (uintptr_t)(rand() % 64) * w.size;
	limit = w.by ? (MEMORY / 2 - 2048) / (w.by < 0 ? -w.by : w.by) : 100;
	w.count = (uint64_t)(rand() % (limit + 1));
	return w;
}

static void run(const struct walk_plan *w, bool write)
{
	int64_t packed = (int64_t)((uint64_t)w->by << 8) | w->size;

	size_now = w->size;
	if (write)
		__raddle_write_stride(&thread->self, (const void *)w->at, 1, w->count, packed);
	else
		__raddle_read_stride(&thread->self, (const void *)w->at, 1, w->count, packed);
	assert_int_equal(held, 0);
}

static void test_same_bytes_as_single_accesses(void **state)
{
	static uint8_t expected[MEMORY];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct walk_plan w = random_plan();
		bool write = rand() % 2;
		thread->self.epoch += 1ull << RADDLE_EPOCH_SHIFT;
		memset(expected, 0, sizeof expected);
		memset(touched, 0, sizeof touched);
		for (uint64_t i = 0; i < w.count; i++)
			memset(expected + (w.at + i * (uint64_t)w.by - BASE), 1, w.size);
		run(&w, write);
		assert_memory_equal(touched, expected, MEMORY);
		/* The same walk again records nothing, except for a write after a read. */
		records = 0;
		run(&w, rand() % 2 && write);
		assert_int_equal(records, 0);
		if (!write && w.count != 0) {
			run(&w, true);
			assert_true(records > 0);
		}
	}
}

static void test_overlapping_strides_lose_nothing(void **state)
{
	static uint8_t expected[MEMORY];

	(void)state;
	for (int round = 0; round < 3000; round++) {
		thread->self.epoch += 1ull << RADDLE_EPOCH_SHIFT;
		memset(expected, 0, sizeof expected);
		memset(touched, 0, sizeof touched);
		for (int k = 0; k < 6; k++) {
			struct walk_plan w = random_plan();
			for (uint64_t i = 0; i < w.count; i++)
				memset(expected + (w.at + i * (uint64_t)w.by - BASE), 1, w.size);
			run(&w, true);
		}
		assert_memory_equal(touched, expected, MEMORY);
	}
}

static int setup(void **state)
{
	(void)state;
	thread = calloc(1, sizeof *thread);
	assert_non_null(thread);
	thread->recording = true;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(thread);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bytes_as_single_accesses),
		cmocka_unit_test(test_overlapping_strides_lose_nothing),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
