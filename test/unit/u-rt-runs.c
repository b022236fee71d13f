/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares recorded runs of accesses with a slow reference.  (A run is a series of accesses that
 * one site makes at equal distances, stored as one record.)  Several sites walk through memory,
 * side by side or across each other's paths, and call the hooks and the encoder.  The reference
 * keeps the set of bytes that were accessed in the segment, and records each first access where it
 * happens.  Between two records that are not accesses, the recorded accesses must be those of the
 * reference.  Those of one site, and those of one byte, must be in the same order.  Sites with
 * numbers of at least RANGES access ranges, some of which are longer than a block.
 */
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wattributes"
#endif
#include "rt/record/hook.c"
#include "rt/record/recorder.c"
#include "rt/record/put.c"
#include "rt/record/access.c"
#include "rt/record/pair.c"
#include "rt/record/range.c"
#include "rt/record/event.c"
#include "rt/record/thin.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace/decode.h"

#include <stdlib.h>
#include <string.h>

enum { MEMORY = 1 << 9, BASE = 1 << 20, SITES = 16, RANGES = 22, EVENTS = 60000 };

struct raddle_self rt_placeholder;
struct rt rt;
struct rt_guard rt_guard;
__thread struct raddle_self *__raddle_self;
static struct rt_thread *thread;
static struct raddle_session session;
static struct raddle_buffer *buffer;
static uint32_t shadow[8] = {RT_STACK_EMITTED};

/* The recorded accesses, and those of the twin.  Site 0 represents a record that is not an
 * access. */
struct list {
	struct access {
		uint32_t site;
		uint64_t address;
	} at[EVENTS];
	size_t count;
};
static struct list got, expected;
static unsigned notes;

static bool is_range(uint32_t site)
{
	return site >= RANGES && site < 10 + SITES;
}

/* Returns the size of a site's accesses.  Sites with odd numbers write. */
static uint32_t size_of(uint32_t site)
{
	if (is_range(site))
		return site / 2 % 2 ? 24 : 72;
	return 1u << site / 2 % 5;
}

static void add(struct list *l, uint32_t site, uint64_t address)
{
	assert_true(l->count < EVENTS);
	l->at[l->count++] = (struct access){site, address};
}

void rt_buffer_seal(struct rt_thread *t)
{
	struct trace_decoder d = {0};
	struct trace_event e;

	if (!t->buffer)
		return;
	trace_decoder_start(&d, t->buffer->data, atomic_load(&t->buffer->used));
	for (; trace_decode(&d, &e) == 1; notes += e.kind == RADDLE_NOTE) {
		add(&got, raddle_is_access(e.kind) ? e.site : 0, e.address);
		if (e.kind == RADDLE_RANGE)
			assert_int_equal(e.size, size_of(e.site));
	}
	assert_null(d.error);
	trace_decoder_release(&d);
	t->buffer = NULL;
}

bool rt_buffer_switch(struct rt_thread *t)
{
	rt_buffer_seal(t);
	t->buffer = buffer;
	t->cursor = rt_put_reset(&t->encoder, buffer->data);
	t->limit = buffer->data + RT_STACK_MAX + 4000; /* small, so that many buffers are used */
	atomic_store(&buffer->used, 1);
	return true;
}

static void end_buffer(void)
{
	rt_buffer_seal(thread);
	thread->cursor = (uint8_t *)1;
	thread->limit = NULL;
}

void *rt_map(size_t size)
{
	(void)size;
	fail();
	return NULL;
}

void rt_unmap(void *p, size_t size)
{
	(void)p, (void)size;
	fail();
}

void rt_clear_blocks(struct rt_thread *t)
{
	(void)t;
	fail();
}

uint64_t rt_now(void)
{
	return 1;
}

uint64_t rt_now_soon(struct rt_thread *t)
{
	(void)t;
	return 1;
}

bool rt_notify_segment_ends(struct rt_thread *t)
{
	(void)t;
	fail();
	return false;
}

void rt_notify_update(struct rt_thread *t, uintptr_t address, uint32_t size, uint64_t sites)
{
	(void)t, (void)address, (void)size, (void)sites;
	fail();
}

struct rt_thread *rt_thread_adopt(void)
{
	fail();
	return NULL;
}

/* The twin: sets of the bytes accessed and written in the segment. */

static bool seen[MEMORY + 128], written[MEMORY + 128];

static bool all(const bool *bytes, uint64_t at, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		if (!bytes[at + i])
			return false;
	return true;
}

static void twin_access(uint32_t site, uint64_t at)
{
	uint32_t size = size_of(site);
	bool write = site % 2;

	if (all(write ? written : seen, at, size))
		return;
	memset(seen + at, 1, size);
	if (write)
		memset(written + at, 1, size);
	add(&expected, site, BASE + at);
}

/* Does what the hook for an update (a read and a write) does.  If the bytes were already accessed
 * in this segment, the read is not recorded.  If they were already written, nothing is
 * recorded. */
static void twin_update(uint32_t site, uint64_t at)
{
	if (!all(written, at, size_of(site)))
		twin_access(site, at);
	twin_access(site + 1, at);
}

/* The recorder, called through its hooks. */

static void range_by_hook(uint32_t site, uint64_t at)
{
	(site % 2 ? __raddle_write_range : __raddle_read_range)(
		&thread->self, (const void *)(uintptr_t)(BASE + at), site, size_of(site));
}

static void access_by_hook(uint32_t site, uint64_t at)
{
	static void (*const hooks[])(struct raddle_self *, const void *, uint32_t) = {
		__raddle_read1,	 __raddle_write1, __raddle_read2,  __raddle_write2, __raddle_read4,
		__raddle_write4, __raddle_read8,  __raddle_write8, __raddle_read16, __raddle_write16};

	hooks[site % 10](&thread->self, (const void *)(uintptr_t)(BASE + at), site);
}

static void update_by_hook(uint32_t site, uint64_t at)
{
	static void (*const hooks[])(struct raddle_self *, const void *, uint32_t, uint32_t) = {
		__raddle_update1, __raddle_update2, __raddle_update4, __raddle_update8, __raddle_update16};

	hooks[site / 2 % 5](&thread->self, (const void *)(uintptr_t)(BASE + at), site, site + 1);
}

static void allocate(void)
{
	rt_heap(thread, RADDLE_ALLOC, BASE, 1, 1);
	add(&expected, 0, BASE);
}

static void synchronise(void)
{
	rt_sync(thread, RADDLE_MUTEX_LOCK, BASE, 0);
	add(&expected, 0, BASE);
	memset(seen, 0, sizeof seen);
	memset(written, 0, sizeof written);
}

/* The walk of a site.  Sometimes it begins elsewhere, goes backwards, or changes its distance. */
struct walker {
	uint64_t at;
	int64_t by;
};

static void step(struct walker *w, uint32_t site)
{
	int64_t size = size_of(site);

	w->at += (uint64_t)w->by;
	if (w->at < MEMORY && rand() % 40)
		return;
	w->by = (rand() % 5 - 2) * size * (rand() % 4 ? 1 : 3);
	w->at = (uint64_t)(rand() % (MEMORY / size) * size);
}

static void walk_all(void)
{
	struct walker walkers[SITES] = {{0}};

	for (int i = 0; i < 20000; i++) {
		uint32_t site = 10 + (uint32_t)(rand() % SITES);
		struct walker *w = &walkers[site - 10];
		step(w, site);
		if (is_range(site)) {
			range_by_hook(site, w->at);
			twin_access(site, w->at);
		} else if (site % 2 == 0 && rand() % 2) {
			update_by_hook(site, w->at);
			twin_update(site, w->at);
		} else {
			access_by_hook(site, w->at);
			twin_access(site, w->at);
		}
		if (rand() % 200 == 0)
			allocate();
		if (rand() % 500 == 0)
			synchronise();
		if (rand() % 300 == 0)
			/* the calls come from another function */
			shadow[1] = 5 + (uint32_t)rand() % 3;
	}
}

/* Comparison of the accesses of each site, and of each byte, in their order. */

static bool touches(const struct access *a, uint64_t byte)
{
	return a->site && byte >= a->address && byte < a->address + size_of(a->site);
}

static void compare_part(const struct access *a, const struct access *b, size_t n)
{
	for (size_t i = 0, k; i < n; i++) {
		size_t before = 0, met = 0;
		for (size_t j = 0; j < i; j++)
			before += a[j].site == a[i].site;
		for (k = 0; k < n && (b[k].site != a[i].site || met++ != before); k++)
			;
		assert_true(k < n);
		assert_int_equal(b[k].address, a[i].address);
	}
	for (size_t i = 0; i < n; i++)
		for (uint64_t byte = a[i].address; byte < a[i].address + size_of(a[i].site); byte++)
			for (size_t j = 0, k = 0; j < n; j++) {
				if (!touches(&a[j], byte))
					continue;
				while (k < n && !touches(&b[k], byte))
					k++;
				assert_true(k < n);
				assert_int_equal(a[j].site, b[k++].site);
			}
}

static void compare(void)
{
	size_t from = 0;

	assert_int_equal(got.count, expected.count);
	for (size_t i = 0; i <= got.count; i++) {
		if (i < got.count && got.at[i].site && expected.at[i].site)
			continue;
		if (i < got.count)
			assert_int_equal(got.at[i].site, expected.at[i].site);
		compare_part(expected.at + from, got.at + from, i - from);
		from = i + 1;
	}
}

static void test_nothing_is_lost_and_order_kept(void **state)
{
	(void)state;
	for (int round = 0; round < 5; round++) {
		got.count = expected.count = 0;
		thread->self.epoch += 1ull << RADDLE_EPOCH_SHIFT;
		memset(seen, 0, sizeof seen);
		memset(written, 0, sizeof written);
		walk_all();
		end_buffer();
		compare();
	}
}

/* Lets four sites walk through memory side by side.  Each access deviates from the regular walk by
 * up to 3 * `wander` bytes.  Returns the size of the records. */
static size_t bytes_of_walk(uint64_t wander)
{
	thread->self.epoch += 1ull << RADDLE_EPOCH_SHIFT;
	rt_buffer_switch(thread);
	for (uint64_t i = 0; i < 400; i++)
		for (uint32_t site = 10; site < 14; site++)
			access_by_hook(site, site * (1u << 16) + i * 16 + (uint64_t)(rand() % 4) * wander);
	return (size_t)(thread->cursor - buffer->data);
}

/* Regular walks need only a few records, not one for each access. */
static void test_walks_are_short(void **state)
{
	(void)state;
	assert_true(bytes_of_walk(0) < 250);
	assert_true(bytes_of_walk(4) > 1500);
}

/* The encoding of varints without a branch is compared with the loop. */
static void test_numbers(void **state)
{
	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint64_t v = ((uint64_t)(unsigned)rand() << 31 ^ (unsigned)rand()) & ((1ull << 56) - 1);
		uint8_t slow[16], fast[16];
		size_t length;

		v >>= rand() % 57;
		length = (size_t)(rt_put_varint(slow, v) - slow);
		assert_int_equal(rt_put_eight(fast, v) - fast, length);
		assert_memory_equal(fast, slow, length);
		if (v >= 1u << 28)
			continue;
		assert_int_equal(rt_put_four(fast, (uint32_t)v) - fast, length);
		assert_memory_equal(fast, slow, length);
	}
}

/* Accesses ranges at equal distances.  If `more` is 0, the ranges have equal sizes, and the
 * records are small.  Returns the size of the records. */
static size_t bytes_of_ranges(uint64_t more)
{
	thread->self.epoch += 1ull << RADDLE_EPOCH_SHIFT;
	rt_buffer_switch(thread);
	for (uint64_t i = 0; i < 400; i++)
		__raddle_read_range(&thread->self, (const void *)(uintptr_t)(BASE + i * 112), RANGES,
				    size_of(RANGES) + i % 2 * more);
	return (size_t)(thread->cursor - buffer->data);
}

static void test_equal_ranges_are_short(void **state)
{
	(void)state;
	assert_true(bytes_of_ranges(0) < 80);
	buffer->used = 0;
	assert_true(bytes_of_ranges(8) > 1500);
	buffer->used = 0;
}

/* Sites and addresses that are far from each other are decoded correctly. */
static void test_far_accesses(void **state)
{
	static const uint32_t apart[] = {1, 100, 1000, 20000, 2000000, 900000000};
	uint32_t site = 1;

	(void)state;
	end_buffer();
	got.count = expected.count = 0;
	for (int i = 0; i < 20000; i++) {
		uint64_t address = (uint64_t)(unsigned)rand() << rand() % 14 << 3;
		bool back = rand() % 2;
		uint32_t by = apart[rand() % 6];

		site = back ? site > by ? site - by : 1 : site + by < RADDLE_SITE_MAX ? site + by : by;
		thread->self.epoch += 1ull << RADDLE_EPOCH_SHIFT;
		__raddle_read8(&thread->self, (const void *)(uintptr_t)address, site);
		add(&expected, site, address);
	}
	end_buffer();
	assert_int_equal(got.count, expected.count);
	for (size_t i = 0; i < got.count; i++) {
		assert_int_equal(got.at[i].site, expected.at[i].site);
		assert_int_equal(got.at[i].address, expected.at[i].address);
	}
}

/* Simulates a signal handler that interrupts the encoder and leaves by longjmp(), so that the
 * encoder is never released.  Records that are made deeper in the stack remain pending. */
static __attribute__((noinline)) void leave_encoder_taken(void)
{
	volatile char frame[512];

	frame[0] = 1;
	rt_recorder_take(thread);
	rt_sync(thread, RADDLE_SEM_POST, BASE, 0);
	assert_int_equal(thread->pending_count, 1);
	frame[1] = frame[0];
}

static void test_abandoned_encoder_is_noted(void **state)
{
	(void)state;
	end_buffer();
	got.count = notes = 0;
	thread->stack_low = (uintptr_t)&state - 65536;
	thread->stack_high = (uintptr_t)__builtin_frame_address(0) + 65536;
	leave_encoder_taken();
	rt_sync(thread, RADDLE_SEM_POST, BASE, 0);
	assert_int_equal(thread->busy, 0);
	assert_int_equal(thread->pending_count, 0);
	end_buffer();
	thread->stack_low = thread->stack_high = 0;
	assert_int_equal(notes, 1);
	assert_int_equal(got.count, 2); /* the note and the record after it */
}

static int set_up(void **state)
{
	(void)state;
	thread = calloc(1, sizeof *thread);
	buffer = calloc(1, sizeof *buffer);
	if (!thread || !buffer)
		return -1;
	rt.session = &session;
	atomic_store(&rt.others, 1);
	atomic_store(&session.state, RADDLE_RECORDING);
	rt_guard.alive = RT_PLAIN;
	thread->recording = RT_PLAIN;
	thread->cursor = (uint8_t *)1;
	thread->self.stack_top = shadow + 2;
	thread->encoder.stack_base = shadow + 1;
	__raddle_self = &thread->self;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(thread);
	free(buffer);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_lost_and_order_kept),
		cmocka_unit_test(test_walks_are_short),
		cmocka_unit_test(test_equal_ranges_are_short),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_far_accesses),
		cmocka_unit_test(test_abandoned_encoder_is_noted),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
