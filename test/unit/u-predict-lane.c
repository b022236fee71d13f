/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of lanes (groups of threads that cannot run at the same time), on random executions.
 * If two threads share a lane, program order, creation and join alone must order all events of the
 * first thread before all events of the second.
 */
#include "predict/brute.c"
#include "predict/random.c"

#include "predict/lane-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Finds the events that must come before each event, as bits. */
static void order_all(const struct exec *x, uint32_t *before)
{
	for (uint32_t i = 0; i < x->count; i++) {
		const struct exec_event *e = &x->events[i];
		before[i] = 0;
		for (uint32_t k = 0; k < i; k++) {
			const struct exec_event *o = &x->events[k];
			if (o->thread == e->thread || (o->kind == EXEC_FORK && o->object == e->thread) ||
			    (e->kind == EXEC_JOIN && e->object == o->thread && !(e->flags & EXEC_PENDING)))
				before[i] |= before[k] | 1u << k;
		}
	}
}

static bool follows(const struct exec *x, const uint32_t *before, uint32_t first, uint32_t second)
{
	for (uint32_t i = 0; i < x->count; i++)
		for (uint32_t k = 0; k < x->count; k++)
			if (x->events[i].thread == first && x->events[k].thread == second &&
			    !(before[k] >> i & 1))
				return false;
	return true;
}

static void test_lanes(void **state)
{
	uint64_t shared = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 20000; seed++) {
		uint32_t before[BRUTE_EVENTS], count;
		struct exec x;
		random_exec(&x, seed);
		order_all(&x, before);
		uint16_t *of = predict_lanes(&x, &count);
		assert_true(count <= x.threads);
		for (uint32_t a = 0; a < x.threads; a++) {
			assert_true(of[a] < count);
			for (uint32_t b = 0; b < a; b++) {
				if (of[a] != of[b])
					continue;
				shared++;
				assert_true(follows(&x, before, a, b) || follows(&x, before, b, a));
			}
		}
		free(of);
		exec_release(&x);
	}
	print_message("%llu pairs of threads share a lane\n", (unsigned long long)shared);
	assert_true(shared > 100);
}

/* One thread creates sixty thousand others, one at a time.  They need two lanes. */
static void test_one_by_one(void **state)
{
	struct exec x;
	uint32_t count;

	(void)state;
	exec_init(&x);
	for (uint32_t t = 1; t < 60000; t++) {
		exec_add(&x, EXEC_FORK, 0, t);
		exec_add(&x, EXEC_BEGIN, t, 0);
		exec_add(&x, EXEC_END, t, 0);
		exec_add(&x, EXEC_JOIN, 0, t);
	}
	free(predict_lanes(&x, &count));
	assert_int_equal(count, 2);
	exec_release(&x);
}

/* If a thread ends while it holds a lock, no later thread uses its lane.  A thread also gets a
 * lane of its own if its creator has joined no thread. */
static void test_apart(void **state)
{
	struct exec x;
	uint32_t count;

	(void)state;
	exec_init(&x);
	exec_add(&x, EXEC_FORK, 0, 1);
	exec_add(&x, EXEC_LOCK, 1, 0);
	exec_add(&x, EXEC_JOIN, 0, 1);
	exec_add(&x, EXEC_FORK, 0, 2);
	exec_add(&x, EXEC_READ, 2, 0);
	exec_add(&x, EXEC_JOIN, 0, 2);
	exec_add(&x, EXEC_WRITE, 3, 0);
	exec_add(&x, EXEC_FORK, 3, 4);
	exec_add(&x, EXEC_READ, 4, 0);
	uint16_t *of = predict_lanes(&x, &count);
	assert_int_equal(count, 5);
	free(of);
	exec_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lanes), cmocka_unit_test(test_one_by_one),
					   cmocka_unit_test(test_apart)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
