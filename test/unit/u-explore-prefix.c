// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of explore/prefix.c: which part of an earlier run a schedule begins with.
 */
#include "explore/prefix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct schedule_decision decision(uint64_t n)
{
	return (struct schedule_decision){
		.thread = "T_0", .n = n, .point = "op", .count = 1, .next = n % 2 ? "T_0_0" : "T_0_1"};
}

/* The text of a schedule with `count` decisions. */
static void make_text(size_t count, struct rd_buf *text)
{
	struct schedule_decision decisions[16];
	struct schedule made = {.turns = true, .decisions = decisions, .decision_count = count};

	assert_true(count <= 16);
	for (size_t i = 0; i < count; i++)
		decisions[i] = decision(i + 1);
	schedule_format(&made, text);
}

/* Each draw gives the same schedule as parsing the prefix anew, even if more prefixes are drawn
 * than are kept parsed. */
static void test_parsed(void **state)
{
	struct rd_buf text[3 * PREFIXES_PARSED];
	struct prefixes prefixes = {0};
	size_t count = sizeof text / sizeof *text;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		text[i] = (struct rd_buf)RD_BUF_INIT;
		make_text((unsigned)i, &text[i]);
		assert_true(prefixes_add(&prefixes, &(struct prefix){.made = text[i].data}));
	}
	for (uint64_t draw = 1; draw < 200; draw++) {
		struct rd_buf drawn = RD_BUF_INIT, parsed = RD_BUF_INIT;
		struct prefix_part part;
		struct schedule s, anew;

		assert_int_equal(prefixes_draw(&prefixes, &(struct prefix_draw){draw, 7, false}, &part, &s),
				 0);
		assert_int_equal(prefix_begin(text[part.prefix - 1].data, part.kept, 7, &anew), 0);
		schedule_format(&s, &drawn);
		schedule_format(&anew, &parsed);
		assert_string_equal(drawn.data, parsed.data);
		schedule_release(&s);
		schedule_release(&anew);
		rd_buf_release(&drawn);
		rd_buf_release(&parsed);
	}
	prefixes_release(&prefixes);
	for (size_t i = 0; i < count; i++)
		rd_buf_release(&text[i]);
}

/* A branch keeps a part of a run's decisions, which the place determines, and continues with the
 * seed. */
static void test_draw(void **state)
{
	struct rd_buf text = RD_BUF_INIT;
	struct prefixes prefixes = {0};
	bool seen[2][3] = {0};

	(void)state;
	make_text(2, &text);
	assert_false(prefixes_add(&prefixes, &(struct prefix){.points = POINTS_ALL}));
	assert_true(prefixes_add(&prefixes, &(struct prefix){.made = text.data}));
	assert_true(prefixes_add(&prefixes, &(struct prefix){.made = text.data, .points = POINTS_ALL}));
	for (uint64_t draw = 1; draw < 100; draw++) {
		struct schedule one, again;
		struct prefix_part part, other;

		assert_int_equal(prefixes_draw(&prefixes, &(struct prefix_draw){draw, 7, false}, &part, &one),
				 0);
		assert_int_equal(
			prefixes_draw(&prefixes, &(struct prefix_draw){draw, 8, false}, &other, &again), 0);
		assert_memory_equal(&part, &other, sizeof part);
		assert_in_range(part.prefix, 1, 2);
		assert_int_equal(one.decision_count, part.kept);
		assert_int_equal(one.seed, 7);
		assert_int_equal(again.seed, 8);
		assert_true(one.turns);
		seen[part.prefix - 1][part.kept] = true;
		schedule_release(&one);
		schedule_release(&again);
		assert_int_equal(prefix_begin(text.data, part.kept, draw, &one), 0);
		assert_int_equal(one.decision_count, part.kept);
		schedule_release(&one);
	}
	for (size_t i = 0; i < 6; i++)
		assert_true(seen[i / 3][i % 3]);
	prefixes_release(&prefixes);
	rd_buf_release(&text);
}

/* A schedule branches off at a mark.  Marks after which runs are new are preferred. */
static void test_marks(void **state)
{
	struct prefix prefix = {.marks = {2, 5, 9}, .mark_count = 3};
	struct rd_buf text = RD_BUF_INIT;
	struct prefixes prefixes = {0};
	unsigned times[16] = {0};

	(void)state;
	make_text(8, &text); /* the last mark is after its end */
	prefix.made = text.data;
	assert_true(prefixes_add(&prefixes, &prefix));
	for (uint64_t i = 0; i < 200; i++) {
		struct prefix_part part;
		struct schedule s;

		assert_int_equal(prefixes_draw(&prefixes, &(struct prefix_draw){i, 1, true}, &part, &s), 0);
		times[part.kept]++;
		prefixes_learn(&prefixes, &part, part.kept != 2);
		schedule_release(&s);
	}
	assert_true(times[2] > 0 && times[2] < 10);
	assert_true(times[5] > 50 && times[8] > 50);
	assert_int_equal(times[2] + times[5] + times[8], 200);
	assert_int_equal(prefixes.items[0].tries[1], times[5]);
	assert_int_equal(prefixes.items[0].news[0], 0);
	/* A run that extended no prefix, or another part of it, changes nothing. */
	prefixes_learn(&prefixes, &(struct prefix_part){.prefix = 2, .kept = 5}, true);
	prefixes_learn(&prefixes, &(struct prefix_part){.kept = 5}, true);
	prefixes_learn(&prefixes, &(struct prefix_part){.prefix = 1, .kept = 4}, true);
	assert_int_equal(prefixes.items[0].tries[1], times[5]);
	prefixes_release(&prefixes);
	rd_buf_release(&text);
}

/* At most PREFIX_MARKS different marks are chosen: the last one, and others from all parts. */
static void test_choose_marks(void **state)
{
	struct replay_mark marks[40];

	(void)state;
	for (size_t i = 0; i < 6; i++)
		marks[i] = (struct replay_mark){i / 2, decision(i / 2)};
	assert_int_equal(prefix_choose_marks(marks, 0), 0);
	assert_int_equal(prefix_choose_marks(marks, 6), 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(marks[i].made, i);
	for (size_t i = 0; i < 40; i++)
		marks[i] = (struct replay_mark){i, decision(i)};
	assert_int_equal(prefix_choose_marks(marks, 40), PREFIX_MARKS);
	for (size_t i = 0; i < PREFIX_MARKS; i++)
		assert_int_equal(marks[i].made, 5 * i + 4);
}

/* Marks become decisions, unless there is one at the same point. */
static void test_add_marks(void **state)
{
	struct schedule_decision decisions[] = {decision(2), decision(4), decision(6)}, to[8];
	struct schedule made = {.turns = true, .decisions = decisions, .decision_count = 3};
	struct replay_mark marks[] = {{0, decision(1)}, {2, decision(4)}, {2, decision(5)}, {4, decision(9)}};
	uint32_t count = 4, at[4];
	const uint64_t expected[] = {1, 2, 4, 5, 6};

	(void)state;
	assert_int_equal(prefix_add_marks(&made, marks, &count, to, at), 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(to[i].n, expected[i]);
	assert_int_equal(count, 3); /* the last mark is after the end */
	assert_int_equal(at[0], 1);
	assert_int_equal(at[1], 3);
	assert_int_equal(at[2], 4);
	count = 0;
	assert_int_equal(prefix_add_marks(&made, NULL, &count, to, at), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_draw), cmocka_unit_test(test_parsed),
					   cmocka_unit_test(test_marks), cmocka_unit_test(test_choose_marks),
					   cmocka_unit_test(test_add_marks)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
