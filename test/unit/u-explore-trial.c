// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of explore/trial.h and classify/variant.h without running anything: what counts as the same
 * output, against comparisons of the texts themselves; which lines are not compared; which ends are faults;
 * schedules of both orders.
 */
#include "explore/trial.h"
#include "classify/classify.h"
#include "classify/variant.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TEXT_MAX = 24, ROUNDS = 4000 };

static uint64_t seed = 5;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static struct trial_text text_of(const char *data)
{
	return (struct trial_text){data, strlen(data)};
}

/* Few letters and short lines, so that equal texts and equal lines come up. */
static void random_text(char out[TEXT_MAX])
{
	uint32_t n = below(TEXT_MAX);

	for (uint32_t i = 0; i < n; i++)
		out[i] = "ab\n"[below(3)];
	out[n] = 0;
}

/* ---- lines ---- */

static void test_next_line(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		char data[TEXT_MAX], joined[TEXT_MAX] = "";
		struct trial_text t, line;
		size_t at = 0;
		random_text(data);
		t = text_of(data);
		while (trial_next_line(&t, &at, &line)) {
			assert_true(line.length > 0);
			/* An end of line is at its end, and nowhere else. */
			const char *end = memchr(line.data, '\n', line.length);
			assert_true(end == NULL ? at == t.length : end == line.data + line.length - 1);
			strncat(joined, line.data, line.length);
		}
		assert_string_equal(joined, data);
		assert_false(trial_next_line(&t, &at, &line));
	}
}

/* ---- digests ---- */

static int by_text(const void *a, const void *b)
{
	const struct trial_text *x = a, *y = b;
	size_t n = x->length < y->length ? x->length : y->length;
	int order = memcmp(x->data, y->data, n);

	return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* Whether two texts have the same lines, in whatever order. */
static bool same_lines(const struct trial_text *a, const struct trial_text *b)
{
	struct trial_text x[TEXT_MAX], y[TEXT_MAX];
	size_t xs = 0, ys = 0, i = 0, k = 0;

	while (trial_next_line(a, &i, &x[xs]))
		xs++;
	while (trial_next_line(b, &k, &y[ys]))
		ys++;
	if (xs != ys)
		return false;
	qsort(x, xs, sizeof *x, by_text);
	qsort(y, ys, sizeof *y, by_text);
	for (size_t n = 0; n < xs; n++)
		if (by_text(&x[n], &y[n]))
			return false;
	return true;
}

static void test_digest(void **state)
{
	static const struct trial_mask none;
	size_t equal = 0, reordered = 0, different = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		char data[2][2][TEXT_MAX];
		struct trial t[2] = {0};
		bool same = true, lines = true;
		for (int i = 0; i < 2; i++) {
			t[i].end = REPLAY_EXITED;
			t[i].status = (int)below(2);
			for (int k = 0; k < 2; k++) {
				random_text(data[i][k]);
				if (i == 1 && below(4) != 0)
					memcpy(data[1][k], data[0][k], sizeof data[1][k]);
				/* The same lines with the first one at the end. */
				if (i == 1 && below(4) == 0 && strchr(data[0][k], '\n')) {
					char *rest = strchr(data[0][k], '\n') + 1;
					size_t first = (size_t)(rest - data[0][k]);
					size_t behind = strlen(rest);
					memcpy(data[1][k], rest, behind);
					memcpy(data[1][k] + behind, data[0][k], first);
					data[1][k][behind + first] = 0;
				}
				t[i].text[k] = text_of(data[i][k]);
			}
			trial_digest(&t[i], &none);
		}
		same &= t[0].status == t[1].status;
		lines &= t[0].status == t[1].status;
		for (int k = 0; k < 2; k++) {
			same &= !strcmp(data[0][k], data[1][k]);
			lines &= same_lines(&t[0].text[k], &t[1].text[k]);
		}
		assert_int_equal(t[0].digest == t[1].digest, same);
		assert_int_equal(t[0].lines == t[1].lines, lines);
		equal += same;
		reordered += lines && !same;
		different += !lines;
	}
	assert_true(equal > 100 && reordered > 50 && different > 100);
}

/* The streams are not one text: what goes to one is not what goes to the other. */
static void test_digest_streams(void **state)
{
	static const struct trial_mask none;
	struct trial a = {.text = {text_of("x\n"), text_of("")}}, b = {.text = {text_of(""), text_of("x\n")}};

	(void)state;
	trial_digest(&a, &none);
	trial_digest(&b, &none);
	assert_true(a.digest != b.digest && a.lines != b.lines);
	b = a;
	b.end = REPLAY_SIGNALLED;
	trial_digest(&b, &none);
	assert_true(a.digest != b.digest && a.lines != b.lines);
}

/* ---- lines that are not compared ---- */

static bool digests_agree(const struct trial_mask *mask, const char *one, const char *two)
{
	struct trial a = {.text = {text_of(one), text_of("")}}, b = {.text = {text_of(two), text_of("")}};

	trial_digest(&a, mask);
	trial_digest(&b, mask);
	assert_int_equal(a.digest == b.digest, a.lines == b.lines);
	return a.digest == b.digest;
}

static void learn(struct trial_mask *mask, const char *one, const char *two)
{
	struct trial a = {.text = {text_of(one), text_of("")}}, b = {.text = {text_of(two), text_of("")}};

	trial_mask_learn(mask, &a, &b);
}

static void test_mask(void **state)
{
	struct trial_mask mask = {0};

	(void)state;
	learn(&mask, "at 1\nsum 7\n", "at 1\nsum 7\n");
	assert_false(mask.any);
	learn(&mask, "at 1\nsum 7\n", "at 2\nsum 7\n");
	assert_true(mask.any && trial_is_masked(&mask, 0, 0));
	assert_false(trial_is_masked(&mask, 0, 1) || trial_is_masked(&mask, 1, 0) || mask.all[0]);
	assert_true(digests_agree(&mask, "at 5\nsum 7\n", "at 6\nsum 7\n"));
	assert_false(digests_agree(&mask, "at 5\nsum 7\n", "at 5\nsum 8\n"));
	assert_false(digests_agree(&mask, "at 5\nsum 7\n", "at 5\nsum 7\nmore\n"));
	/* Another number of lines: nothing of that stream is compared, all of the other one. */
	learn(&mask, "at 1\n", "at 1\nsum 7\n");
	assert_true(mask.all[0] && !mask.all[1]);
	assert_true(digests_agree(&mask, "at 5\n", "anything\nelse\n"));
	assert_true(trial_is_masked(&mask, 0, 100));
	assert_false(trial_is_masked(&mask, 1, 100));
}

/* Random pairs: what was learnt from two texts makes them equal, and nothing that was equal is left out. */
static void test_mask_learns(void **state)
{
	size_t some = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct trial_mask mask = {0};
		char one[TEXT_MAX], two[TEXT_MAX];
		struct trial_text a, b, x, y;
		size_t i = 0, k = 0;
		random_text(one);
		random_text(two);
		a = text_of(one);
		b = text_of(two);
		learn(&mask, one, two);
		assert_true(digests_agree(&mask, one, two));
		assert_int_equal(mask.any, strcmp(one, two) != 0);
		for (size_t n = 0; trial_next_line(&a, &i, &x) && trial_next_line(&b, &k, &y); n++) {
			assert_int_equal(mask.line[0][n], by_text(&x, &y) != 0);
			some += mask.line[0][n];
		}
	}
	assert_true(some > 1000);
}

/* There is a mask for so many lines; behind them one difference is one of all. */
static void test_mask_limit(void **state)
{
	struct trial_mask mask = {0};
	char *one = calloc(TRIAL_LINES + 2, 2), *two;

	(void)state;
	assert_non_null(one);
	for (int i = 0; i < TRIAL_LINES + 1; i++)
		memcpy(one + (size_t)i * 2, "a\n", 3);
	two = strdup(one);
	assert_non_null(two);
	two[(TRIAL_LINES - 1) * 2] = 'b';
	learn(&mask, one, two);
	assert_true(mask.line[0][TRIAL_LINES - 1] && !mask.all[0]);
	two[TRIAL_LINES * 2] = 'b';
	learn(&mask, one, two);
	assert_true(mask.all[0]);
	free(one);
	free(two);
}

/* ---- faults ---- */

static void test_fault(void **state)
{
	static const struct {
		enum replay_end end;
		int status;
		const char *errors, *fault;
	} rows[] = {
		{REPLAY_EXITED, 0, "", NULL},
		{REPLAY_EXITED, 134, "free(): invalid pointer\n", NULL},
		{REPLAY_DEADLOCKED, 0, "", "deadlock"},
		{REPLAY_LIVELOCKED, 0, "", "hang"},
		{REPLAY_SIGNALLED, SIGSEGV, "", "crash"},
		{REPLAY_SIGNALLED, SIGFPE, "", "crash"},
		{REPLAY_SIGNALLED, SIGABRT, "", "abort"},
		{REPLAY_SIGNALLED, SIGABRT, "a: a.c:3: main: Assertion `x' failed.\n", "assertion"},
		{REPLAY_SIGNALLED, SIGABRT, "free(): double free detected in tcache 2\n", "memory-error"},
		{REPLAY_SIGNALLED, SIGABRT, "*** stack smashing detected ***: terminated\n", "memory-error"},
		/* Signals by which somebody else ends a program. */
		{REPLAY_SIGNALLED, SIGTERM, "", NULL},
		{REPLAY_SIGNALLED, SIGKILL, "double free", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *fault = trial_fault(rows[i].end, rows[i].status, rows[i].errors);
		if (rows[i].fault)
			assert_string_equal(fault, rows[i].fault);
		else
			assert_null(fault);
	}
}

/* ---- variants ---- */

static struct schedule_goal goals[2] = {{.thread = "T_0", .after = 4, .site = 7},
					{.thread = "T_0_0", .after = 9, .site = 8}};
static struct schedule_op ops[1] = {{.thread = "T_0", .n = 1, .kind = "thread-create"}};
static struct schedule_limit limits[1] = {{.thread = "T_0_0", .n = 12}};

/* All of it is static: there is nothing to release. */
static struct schedule race(void)
{
	return (struct schedule){.goals = goals,
				 .goal_count = 2,
				 .ops = ops,
				 .op_count = 1,
				 .limits = limits,
				 .limit_count = 1,
				 .seed = 77};
}

/* Twins differ in who goes first, and in nothing behind the two accesses.  In every fourth pair the second
 * thread lags behind. */
static void test_twins(void **state)
{
	struct schedule s = race();

	(void)state;
	for (unsigned number = 0; number < 10; number++) {
		struct variant a, b;
		bool lags = number == 2 || number == 6;
		variant_make(&a, &s, VARIANT_FIRST, number);
		variant_make(&b, &s, VARIANT_SECOND, number);
		assert_true(a.schedule.turns && b.schedule.turns);
		assert_string_equal(a.schedule.first, "T_0");
		assert_string_equal(b.schedule.first, "T_0_0");
		assert_int_equal(a.schedule.seed, b.schedule.seed);
		assert_int_equal(a.schedule.decision_count, 2);
		assert_int_equal(b.schedule.decision_count, 2);
		/* The first is back: the other one goes on, unless it lags.  That is back: the same thread
		 * goes on in both twins, or the one that lagged. */
		assert_string_equal(a.decisions[0].thread, "T_0");
		assert_int_equal(a.decisions[0].n, 4);
		assert_string_equal(a.decisions[0].next, lags ? "T_0" : "T_0_0");
		assert_string_equal(a.decisions[1].thread, "T_0_0");
		assert_string_equal(b.decisions[0].thread, "T_0_0");
		assert_int_equal(b.decisions[0].n, 9);
		assert_string_equal(b.decisions[0].next, lags ? "T_0_0" : "T_0");
		assert_string_equal(a.decisions[1].next, lags ? "T_0_0" : goals[number % 2].thread);
		assert_string_equal(b.decisions[1].next, lags ? "T_0" : goals[number % 2].thread);
		for (int i = 0; i < 2; i++)
			assert_string_equal(a.decisions[i].point, "back");
		assert_int_equal(a.schedule.op_count, 1);
		assert_int_equal(a.schedule.goal_count, 2);
		assert_string_equal(a.schedule.flavour, CLASSIFY_FLAVOUR);
	}
	/* The race's own schedule is as it was. */
	assert_int_equal(s.seed, 77);
	assert_null(s.first);
	assert_false(s.turns);
}

/* The first three without a seed, each of the others with its own. */
static void test_seeds(void **state)
{
	struct schedule s = race();
	struct variant v;

	(void)state;
	for (unsigned number = 0; number < 10; number++)
		for (int group = 0; group < VARIANT_GROUPS; group++) {
			variant_make(&v, &s, (enum variant_group)group, number);
			assert_int_equal(v.schedule.seed, number < 3 ? 0 : number - 1);
		}
}

/* The control group is led through the operations and to no access. */
static void test_control(void **state)
{
	struct schedule s = race();
	struct variant v;

	(void)state;
	variant_make(&v, &s, VARIANT_CONTROL, 3);
	assert_int_equal(v.schedule.goal_count, 0);
	assert_int_equal(v.schedule.decision_count, 0);
	assert_int_equal(v.schedule.op_count, 1);
	assert_int_equal(v.schedule.limit_count, 1);
	assert_null(v.schedule.first);
	assert_true(v.schedule.turns);
	/* Without operations there is no order to keep, and a limit would only stop a thread. */
	s.op_count = 0;
	variant_make(&v, &s, VARIANT_CONTROL, 0);
	assert_int_equal(v.schedule.limit_count, 0);
	variant_make(&v, &s, VARIANT_FIRST, 0);
	assert_int_equal(v.schedule.limit_count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_next_line),      cmocka_unit_test(test_digest),
		cmocka_unit_test(test_digest_streams), cmocka_unit_test(test_mask),
		cmocka_unit_test(test_mask_learns),    cmocka_unit_test(test_mask_limit),
		cmocka_unit_test(test_fault),	       cmocka_unit_test(test_twins),
		cmocka_unit_test(test_seeds),	       cmocka_unit_test(test_control),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
