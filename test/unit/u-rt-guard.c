// SPDX-License-Identifier: Apache-2.0
/* Unit tests of which threads are ordered after a tracked access (rt/guard/order.c), compared with
 * vector clocks on random operations. */
#include "rt/guard/order.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct guard guard;

enum { THREADS = 5, LOCKS = 7, STEPS = 400, ROUNDS = 300, TRACKED = 3 };

/* The slow reference: a clock for each thread and lock, and the time of each tracked access. */
struct reference {
	unsigned thread[THREADS][THREADS], any[LOCKS][THREADS], writers[LOCKS][THREADS];
	unsigned at[TRACKED];
	int by[TRACKED]; /* -1: not tracked */
};

static struct guard_thread threads[THREADS];

static void join(unsigned *to, const unsigned *from)
{
	for (int i = 0; i < THREADS; i++)
		to[i] = to[i] > from[i] ? to[i] : from[i];
}

static void reference_release(struct reference *t, int thread, int lock, bool shared)
{
	join(t->any[lock], t->thread[thread]);
	if (!shared)
		join(t->writers[lock], t->thread[thread]);
	t->thread[thread][thread]++;
}

static void compare(const struct reference *t)
{
	for (int k = 0; k < TRACKED; k++)
		for (int i = 0; t->by[k] >= 0 && i < THREADS; i++) {
			bool behind = t->thread[i][t->by[k]] >= t->at[k];
			assert_int_equal(behind, (threads[i].mask.sure >> k) & 1);
			assert_int_equal(behind, (threads[i].mask.maybe >> k) & 1);
		}
}

static void step(struct reference *t, unsigned *seed)
{
	int thread = rand_r(seed) % THREADS, lock = rand_r(seed) % LOCKS, k = rand_r(seed) % TRACKED;
	bool shared = rand_r(seed) % 2;
	uintptr_t address = 0x1000 + 64 * (uintptr_t)lock;
	switch (rand_r(seed) % 8) {
	case 0: /* an access is tracked, in place of another */
		guard_track_forget(1u << k);
		t->by[k] = thread;
		t->thread[thread][thread]++;
		t->at[k] = t->thread[thread][thread];
		threads[thread].mask.sure |= 1u << k;
		threads[thread].mask.maybe |= 1u << k;
		break;
	case 1:
		guard_track_forget(1u << k);
		t->by[k] = -1;
		break;
	case 2:
	case 3:
	case 4:
		guard_track_release(&threads[thread], address, shared ? GUARD_SHARED : GUARD_EXCLUSIVE);
		reference_release(t, thread, lock, shared);
		break;
	default:
		guard_track_acquire(&threads[thread], address, shared ? GUARD_SHARED : GUARD_EXCLUSIVE);
		join(t->thread[thread], shared ? t->writers[lock] : t->any[lock]);
	}
}

static void same_as_vector_clocks(void **state)
{
	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct reference t = {.by = {-1, -1, -1}};
		unsigned seed = round;
		memset(threads, 0, sizeof threads);
		guard.threads = threads;
		for (int i = 0; i + 1 < THREADS; i++)
			threads[i].next = &threads[i + 1];
		for (int i = 0; i < STEPS; i++) {
			step(&t, &seed);
			compare(&t);
		}
		guard_track_forget(UINT32_MAX);
		assert_int_equal(guard_tables.used_count, 0);
	}
}

/* When the table is full, a thread that acquires anything may be ordered after every tracked
 * access, but never surely. */
static void a_full_table_knows_nothing(void **state)
{
	(void)state;
	memset(threads, 0, sizeof threads);
	guard.threads = threads;
	threads[0].next = &threads[1];
	threads[0].mask = (struct guard_mask){1, 1};
	for (uintptr_t i = 1; i <= 2 * GUARD_OBJECTS; i++)
		guard_track_release(&threads[0], i * 64, GUARD_EXCLUSIVE);
	guard_track_acquire(&threads[1], 3 * GUARD_OBJECTS * 64, GUARD_EXCLUSIVE);
	assert_int_equal(threads[1].mask.sure, 0);
	assert_int_equal(threads[1].mask.maybe, 1);
	guard_track_forget(1);
	assert_int_equal(threads[1].mask.maybe, 0);
}

/* An order that comes from outside the program is never sure, and stays uncertain when it is passed
 * on. */
static void outside_is_never_sure(void **state)
{
	(void)state;
	memset(threads, 0, sizeof threads);
	guard.threads = threads;
	threads[0].next = &threads[1];
	threads[1].next = &threads[2];
	threads[0].mask = (struct guard_mask){1, 1};
	guard_track_release(&threads[0], 64, GUARD_WEAK);
	guard_track_acquire(&threads[1], 64, GUARD_EXCLUSIVE);
	assert_int_equal(threads[1].mask.sure, 0);
	assert_int_equal(threads[1].mask.maybe, 1);
	guard_track_release(&threads[1], 128, GUARD_EXCLUSIVE);
	guard_track_acquire(&threads[2], 128, GUARD_EXCLUSIVE);
	assert_int_equal(threads[2].mask.sure, 0);
	assert_int_equal(threads[2].mask.maybe, 1);
	guard_track_forget(UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_vector_clocks),
		cmocka_unit_test(a_full_table_knows_nothing),
		cmocka_unit_test(outside_is_never_sure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
