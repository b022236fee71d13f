// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the clock of a program.  They test that it measures for how long a program could
 * run, and not how busy the machine is.
 */
#include "base/clock.h"
#include "run/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

static struct run_clock c;
static struct run_clock_look look;

static int start(void **state)
{
	(void)state;
	c = (struct run_clock){0};
	look = (struct run_clock_look){.real_ns = 5 * RD_NS_PER_S, .cpu_ns = 7 * RD_NS_PER_MS};
	run_clock_step(&c, &look);
	return 0;
}

/* Lets time pass, and returns how many milliseconds passed by the clock of the program. */
static int64_t passes(int64_t real_ms, int64_t cpu_ms, int64_t delay_ms, size_t awake)
{
	int64_t before = c.now_ns;

	look.real_ns += real_ms * RD_NS_PER_MS;
	look.cpu_ns += cpu_ms * RD_NS_PER_MS;
	look.delay_ns += delay_ms * RD_NS_PER_MS;
	look.awake = awake;
	run_clock_step(&c, &look);
	return (c.now_ns - before) / RD_NS_PER_MS;
}

static void test_first_look(void **state)
{
	(void)state;
	assert_int_equal(c.now_ns, 1);
}

static void test_computes(void **state)
{
	(void)state;
	assert_int_equal(passes(20, 20, 0, 1), 20);
	assert_int_equal(passes(200, 20, 180, 1), 20); /* a busy machine */
	assert_int_equal(passes(20, 40, 0, 2), 20);    /* two processors */
	assert_int_equal(passes(20, 40, 120, 8), 5);   /* eight threads share them */
	assert_int_equal(passes(20, 2, 0, 1), 20);     /* it sleeps most of the time */
}

static void test_sleeps(void **state)
{
	(void)state;
	assert_int_equal(passes(20, 0, 0, 0), 20);
	/* The look was late, so the program may have been late, too. */
	assert_int_equal(passes(5000, 0, 0, 0), 100);
}

/* A program that gets no processor is ended, but only after a long time. */
static void test_starves(void **state)
{
	(void)state;
	assert_int_equal(passes(640, 0, 640, 1), 10);
	assert_int_equal(passes(640, 0, 3200, 5), 10);
	assert_int_equal(passes(640, 30, 610, 1), 30);
	assert_int_equal(passes(640, 0, 0, 1), 10); /* it is stopped */
	/* A thread that waited has ended, so the sum has become less. */
	assert_int_equal(passes(640, 10, -5000, 1), 640);
}

/* The time of a process that has ended is not known. */
static void test_ended(void **state)
{
	(void)state;
	look.cpu_ns = -look.cpu_ns;
	assert_int_equal(passes(64, 0, 0, 1), 1);
}

static void test_process(void **state)
{
	struct run_clock own = {0};
	int64_t first = run_clock_now(&own, getpid()), real = rd_now_ns();

	(void)state;
	assert_int_equal(first, 1);
	while (run_clock_now(&own, getpid()) == first)
		;
	assert_true(own.now_ns - first <= rd_now_ns() - real + 10 * RD_NS_PER_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_first_look, start), cmocka_unit_test_setup(test_computes, start),
		cmocka_unit_test_setup(test_sleeps, start),	cmocka_unit_test_setup(test_starves, start),
		cmocka_unit_test_setup(test_ended, start),	cmocka_unit_test_setup(test_process, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
