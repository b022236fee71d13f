// SPDX-License-Identifier: Apache-2.0
/* Unit tests of run/fault.h: faults as text, and as a plan in a session, in which the program
 * stores its answers. */
#include "run/fault.h"

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { FAULTS = 12, ROUNDS = 60 };

static char message[256];

static void keep_message(void *context, enum rd_level level, const char *text)
{
	(void)context;
	(void)level;
	snprintf(message, sizeof message, "%s", text);
}

static int set_up(void **state)
{
	(void)state;
	rd_log_set(keep_message, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rd_log_set(NULL, NULL);
	return 0;
}

/* ---- faults as text ---- */

static void texts_are_understood(void **state)
{
	struct run_fault f;

	(void)state;
	assert_int_equal(run_fault_parse(&f, "T_0_1:0x10005:3:flip:0x80"), 0);
	assert_int_equal(f.depth, 1);
	assert_int_equal(f.thread[0], 1);
	assert_int_equal(f.site, 0x10005);
	assert_int_equal(f.instance, 3);
	assert_int_equal(f.action, RADDLE_FAULT_FLIP);
	assert_true(f.mask[0] == 0x80 && f.mask[1] == 0 && f.repeat == 1);
	assert_int_equal(run_fault_parse(&f, "T_0:7:1:set:-1:2:0"), 0);
	assert_int_equal(f.depth, 0);
	assert_true(f.mask[0] == UINT64_MAX && f.mask[1] == 2 && f.repeat == 0);
	assert_int_equal(run_fault_parse(&f, "T_0_2_1_0:4294967295:18446744073709551615:call:0"), 0);
	assert_int_equal(f.depth, 3);
	assert_true(f.thread[0] == 2 && f.thread[1] == 1 && f.thread[2] == 0);
	assert_true(f.site == UINT32_MAX && f.instance == UINT64_MAX);
	assert_int_equal(f.forks, 0);
	assert_int_equal(run_fault_parse(&f, "P_0_2_11/T_0_1:7:1:flip:1"), 0);
	assert_true(f.forks == 2 && f.process[0] == 2 && f.process[1] == 11 && f.thread[0] == 1);
	assert_int_equal(run_fault_parse(&f, "P_0/T_0:7:1:flip:1"), 0);
	assert_int_equal(f.forks, 0);
	assert_int_not_equal(run_fault_parse(&f, "P_1/T_0:7:1:flip:1"), 0);
	assert_int_not_equal(run_fault_parse(&f, "P_0_/T_0:7:1:flip:1"), 0);
	assert_int_not_equal(run_fault_parse(&f, "/T_0:7:1:flip:1"), 0);
	assert_int_not_equal(run_fault_parse(&f, "P_0_0/:7:1:flip:1"), 0);
}

static void all_actions_have_names(void **state)
{
	char text[64];
	struct run_fault f;

	(void)state;
	for (unsigned a = RADDLE_FAULT_FLIP; a < RADDLE_FAULT_ACTIONS; a++) {
		snprintf(text, sizeof text, "T_0:1:1:%s:1",
			 run_fault_action_name((enum raddle_fault_action)a));
		assert_int_equal(run_fault_parse(&f, text), 0);
		assert_int_equal(f.action, a);
	}
}

static void others_are_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"T_0",
		"T_0:1:1:flip",
		"T_0:1:1:flip:",
		"T_0:0:1:flip:1",	   /* 0 is not a site */
		"T_0:1:0:flip:1",	   /* instances are counted from 1 */
		"T_0:4294967296:1:flip:1", /* not a valid site */
		"T_0:-1:1:flip:1",	   /* not a valid site */
		"T_0:1:1:flop:1",
		"T_0:1:1:flip:1x",
		"T_0:1:1:flip: 1",
		"T_0:1:1:flip:1:2:3:4:5",
		"T_0:1:18446744073709551616:flip:1", /* too large */
		"T_1:1:1:flip:1",
		"X_0:1:1:flip:1",
		"T_0_:1:1:flip:1",
		"T_0:1:1:flip:zero",
	};
	struct run_fault f;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		message[0] = '\0';
		assert_int_equal(run_fault_parse(&f, texts[i]), RD_EUSAGE);
		assert_non_null(strstr(message, "THREAD:SITE:INSTANCE:ACTION:MASK"));
	}
}

/* ---- faults as a plan in a session ---- */

static struct run_fault random_fault(void)
{
	struct run_fault f = {.depth = (uint32_t)rand() % 4,
			      .site = 1 + (uint32_t)rand() % 9,
			      .instance = 1 + (uint64_t)rand() % 5,
			      .repeat = (uint64_t)rand() % 3,
			      .action = RADDLE_FAULT_SET,
			      .mask = {(uint64_t)rand(), (uint64_t)rand()}};

	for (uint32_t i = 0; i < f.depth; i++)
		f.thread[i] = (uint32_t)rand() % 2;
	return f;
}

/* Follows the table of threads from an entry up to the initial thread. */
static void check_thread(struct raddle_faults *plan, uint32_t entry, const struct run_fault *f)
{
	for (uint32_t i = f->depth; i-- > 0;) {
		const struct raddle_fault_thread *t = &raddle_fault_threads(plan)[entry];

		assert_int_equal(t->index, f->thread[i]);
		assert_true(t->parent < entry); /* parents come first */
		entry = t->parent;
	}
	assert_int_equal(entry, 0);
	assert_int_equal(raddle_fault_threads(plan)[0].parent, RADDLE_FAULT_NONE);
}

static void check_plan(struct raddle_faults *plan, const struct run_fault *faults, size_t count)
{
	uint32_t seen = 0;

	assert_int_equal(plan->version, RADDLE_FAULT_VERSION);
	assert_int_equal(plan->fault_count, count);
	for (uint32_t t = 0; t < plan->thread_count; t++) {
		const struct raddle_fault_thread *thread = &raddle_fault_threads(plan)[t];
		uint32_t before = 0;

		assert_int_equal(thread->first, seen);
		for (uint32_t i = 0; i < thread->count; i++, seen++) {
			const struct raddle_fault *f = &raddle_fault_list(plan)[seen];
			const struct run_fault *given = &faults[f->number];

			assert_int_equal(f->thread, t);
			/* in the order in which they were given */
			assert_true(i == 0 || f->number > before);
			before = f->number;
			check_thread(plan, t, given);
			assert_true(f->site == given->site && f->instance == given->instance &&
				    f->repeat == given->repeat && f->action == given->action);
			assert_memory_equal(f->mask, given->mask, sizeof f->mask);
		}
	}
	assert_int_equal(seen, count);
}

/* Stores what the program would answer. */
static void answer(struct raddle_faults *plan)
{
	for (uint32_t i = 0; i < plan->fault_count; i++) {
		struct raddle_fault *f = &raddle_fault_list(plan)[i];

		f->seen = 100 + f->number;
		f->fired = 200 + f->number;
		f->before[0] = 300 + f->number;
		f->after[0] = 400 + f->number;
	}
	for (uint32_t t = 0; t < plan->thread_count; t++)
		raddle_fault_threads(plan)[t].number = 500 + t;
}

static void plans_come_to_the_program_and_back(void **state)
{
	(void)state;
	srand(16);
	for (int round = 0; round < ROUNDS; round++) {
		struct run_fault faults[FAULTS];
		size_t count = 1 + (size_t)rand() % FAULTS;
		struct run_session s;
		struct raddle_faults *plan;

		for (size_t i = 0; i < count; i++)
			faults[i] = random_fault();
		assert_int_equal(run_session_open(&s, "prog", 0), 0);
		/* nothing happens, because there is no plan yet */
		run_fault_look(&s, faults, count);
		assert_int_equal(faults[0].seen, 0);
		assert_int_equal(run_fault_plan(&s, faults, count), 0);
		plan = (struct raddle_faults *)((char *)s.shared + s.shared->fault_offset);
		check_plan(plan, faults, count);
		answer(plan);
		run_fault_look(&s, faults, count);
		for (size_t i = 0; i < count; i++) {
			assert_true(faults[i].seen == 100 + i && faults[i].fired == 200 + i);
			assert_true(faults[i].before == 300 + i && faults[i].after == 400 + i);
			check_thread(plan, faults[i].number - 500, &faults[i]);
		}
		run_session_close(&s);
	}
}

/* The program can overwrite this memory, so the numbers in it are not trusted. */
static void wild_answers_are_survived(void **state)
{
	struct run_fault faults[8] = {random_fault(), random_fault()}; /* others must not change */
	struct run_session s;
	struct raddle_faults *plan;

	(void)state;
	assert_int_equal(run_session_open(&s, "prog", 0), 0);
	assert_int_equal(run_fault_plan(&s, faults, 2), 0);
	plan = (struct raddle_faults *)((char *)s.shared + s.shared->fault_offset);
	raddle_fault_list(plan)[0].number = 7;
	raddle_fault_list(plan)[1].number = 0;
	raddle_fault_list(plan)[1].thread = UINT32_MAX;
	raddle_fault_list(plan)[1].seen = 9;
	run_fault_look(&s, faults, 2);
	assert_int_equal(faults[0].seen, 9);
	assert_int_equal(faults[0].number, RADDLE_FAULT_NONE);
	assert_int_equal(faults[1].seen, 0);
	assert_int_equal(faults[7].number, 0);
	run_session_close(&s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(texts_are_understood),	 TEST(all_actions_have_names),
		TEST(others_are_refused),	 TEST(plans_come_to_the_program_and_back),
		TEST(wild_answers_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
