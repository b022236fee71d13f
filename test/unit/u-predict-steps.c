// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of a prediction in steps, on random executions.  The results of the steps together
 * must be those of predict_run(), as a whole and in windows, also if the caller removes them after
 * each step.  An abandoned prediction must leak nothing.  Time that the caller spends must not be
 * counted.
 */
#include "predict/random.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "predict/predict-int.h"

#define EXECUTIONS 600

/* What was found, as numbers that do not depend on the order. */
struct sum {
	uint64_t races, deadlocks, pairs;
};

static void add_to(struct sum *sum, const struct predict_result *r)
{
	sum->races += r->race_count;
	sum->deadlocks += r->deadlock_count;
	for (size_t i = 0; i < r->race_count; i++)
		sum->pairs += ((uint64_t)r->races[i].first << 32 | r->races[i].second) *
			      (r->races[i].class + 1) * 0x9e3779b97f4a7c15u;
	for (size_t i = 0; i < r->deadlock_count; i++)
		for (uint32_t k = 0; k < r->deadlocks[i].count; k++)
			sum->pairs += r->deadlocks[i].stops[k] * 31u;
}

/* Returns the number of steps that found something. */
static unsigned run_in_steps(const struct exec *x, const struct predict_opts *o, struct sum *sum,
			     struct predict_result *rest)
{
	struct predict_steps *s;
	unsigned news = 0;

	assert_int_equal(predict_open(&s, x, o, rest), RD_OK);
	while (predict_next(s)) {
		news += rest->race_count + rest->deadlock_count > 0;
		add_to(sum, rest);
		predict_result_clear(rest);
	}
	assert_false(predict_next(s)); /* no step follows the last one */
	predict_close(s);
	return news;
}

static unsigned compare(uint64_t seed, uint32_t window)
{
	struct predict_opts o = {.max_tries = UINT32_MAX, .window = window};
	struct predict_result whole, rest;
	struct sum at_once = {0}, in_steps = {0};
	struct exec x;
	unsigned news;

	random_exec(&x, seed);
	assert_int_equal(predict_run(&x, &o, &whole), RD_OK);
	add_to(&at_once, &whole);
	news = run_in_steps(&x, &o, &in_steps, &rest);
	assert_memory_equal(&at_once, &in_steps, sizeof at_once);
	assert_int_equal(whole.kept, rest.kept);
	assert_int_equal(whole.pieces, rest.pieces);
	assert_int_equal(whole.looked, rest.looked);
	for (int c = 0; c < 2; c++) {
		assert_int_equal(whole.stats[c].searches, rest.stats[c].searches);
		assert_int_equal(whole.stats[c].unknown, rest.stats[c].unknown);
	}
	predict_result_release(&whole);
	predict_result_release(&rest);
	exec_release(&x);
	return news;
}

static void test_steps_find_what_a_run_finds(void **state)
{
	static const uint32_t windows[] = {0, 9, 5};
	unsigned several = 0;

	(void)state;
	for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
		for (uint64_t seed = 1; seed <= EXECUTIONS; seed++)
			several += compare(seed, windows[w]) > 1;
	/* in several executions, more than one step found something */
	assert_true(several > EXECUTIONS / 10);
}

/* A prediction can be abandoned after any number of steps. */
static void test_it_can_be_given_up(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++)
		for (unsigned most = 0; most < 12; most++) {
			struct predict_opts o = {.window = seed % 2 ? 7 : 0};
			struct predict_result r;
			struct predict_steps *s;
			struct exec x;

			random_exec(&x, seed);
			assert_int_equal(predict_open(&s, &x, &o, &r), RD_OK);
			for (unsigned i = 0; i < most && predict_next(s); i++)
				;
			predict_close(s);
			predict_result_release(&r);
			exec_release(&x);
		}
	predict_close(NULL);
}

/* Predicts with a deadline that has passed.  Returns whether that was noticed. */
static bool is_late(uint64_t seed, uint32_t window, int64_t put_off_ns)
{
	struct predict_opts o = {.deadline_ns = rd_now_ns() - 1, .window = window};
	struct predict_result r;
	struct predict_steps *s;
	struct exec x;
	bool late;

	random_exec(&x, seed);
	assert_int_equal(predict_open(&s, &x, &o, &r), RD_OK);
	predict_extend_deadline(s, put_off_ns);
	while (predict_next(s))
		;
	late = r.late;
	predict_close(s);
	predict_result_release(&r);
	exec_release(&x);
	return late;
}

/* The caller extends the deadline by the time that it spent on something else. */
static void test_the_time_of_the_caller_does_not_count(void **state)
{
	unsigned late = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++)
		for (uint32_t window = 0; window <= 9; window += 9) {
			late += is_late(seed, window, 0);
			assert_false(is_late(seed, window, 3600 * 1000000000ll));
		}
	assert_true(late);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps_find_what_a_run_finds),
		cmocka_unit_test(test_it_can_be_given_up),
		cmocka_unit_test(test_the_time_of_the_caller_does_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
