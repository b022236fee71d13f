// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of trial/output.c.  Which outputs are treated as equal is compared with the texts
 * themselves.  Also tests which lines are not compared, and which ends are faults.
 */
#include "trial/trial.h"

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

/* Makes a text of few letters and short lines, so that equal texts and equal lines occur. */
static void random_text(char out[TEXT_MAX])
{
	uint32_t n = below(TEXT_MAX);

	for (uint32_t i = 0; i < n; i++)
		out[i] = "ab\n"[below(3)];
	out[n] = 0;
}

/* ---- splitting into lines ---- */

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
			/* Only the end of a line may contain a newline. */
			const char *end = memchr(line.data, '\n', line.length);
			assert_true(end == NULL ? at == t.length : end == line.data + line.length - 1);
			strncat(joined, line.data, line.length);
		}
		assert_string_equal(joined, data);
		assert_false(trial_next_line(&t, &at, &line));
	}
}

/* ---- digests of outputs ---- */

static int by_text(const void *a, const void *b)
{
	const struct trial_text *x = a, *y = b;
	size_t n = x->length < y->length ? x->length : y->length;
	int order = memcmp(x->data, y->data, n);

	return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* Whether two texts have the same lines, in any order. */
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
				/* The same lines, but the first one is moved to the end. */
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
		assert_int_equal(t[0].sorted_digest == t[1].sorted_digest, lines);
		equal += same;
		reordered += lines && !same;
		different += !lines;
	}
	assert_true(equal > 100 && reordered > 50 && different > 100);
}

/* The two streams are distinguished: the same text in the other stream is another output. */
static void test_digest_streams(void **state)
{
	static const struct trial_mask none;
	struct trial a = {.text = {text_of("x\n"), text_of("")}}, b = {.text = {text_of(""), text_of("x\n")}};

	(void)state;
	trial_digest(&a, &none);
	trial_digest(&b, &none);
	assert_true(a.digest != b.digest && a.sorted_digest != b.sorted_digest);
	b = a;
	b.end = REPLAY_SIGNALLED;
	trial_digest(&b, &none);
	assert_true(a.digest != b.digest && a.sorted_digest != b.sorted_digest);
}

/* ---- masks: lines that are not compared ---- */

static bool digests_agree(const struct trial_mask *mask, const char *one, const char *two)
{
	struct trial a = {.text = {text_of(one), text_of("")}}, b = {.text = {text_of(two), text_of("")}};

	trial_digest(&a, mask);
	trial_digest(&b, mask);
	assert_int_equal(a.digest == b.digest, a.sorted_digest == b.sorted_digest);
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
	/* If the number of lines differs, nothing of that stream is compared, but all of the
	 * other. */
	learn(&mask, "at 1\n", "at 1\nsum 7\n");
	assert_true(mask.all[0] && !mask.all[1]);
	assert_true(digests_agree(&mask, "at 5\n", "anything\nelse\n"));
	assert_true(trial_is_masked(&mask, 0, 100));
	assert_false(trial_is_masked(&mask, 1, 100));
}

/* With the mask learnt from two random texts, they are equal.  No line that was equal is masked. */
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

/* The mask covers a limited number of lines.  A difference after them masks the whole stream. */
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

/* ---- which ends are faults ---- */

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
		/* Signals by which other processes end a program. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_next_line),      cmocka_unit_test(test_digest),
		cmocka_unit_test(test_digest_streams), cmocka_unit_test(test_mask),
		cmocka_unit_test(test_mask_learns),    cmocka_unit_test(test_mask_limit),
		cmocka_unit_test(test_fault),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
