// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of trial/failure.h and trial/suite-int.h with made-up runs: what failed and where,
 * which failures are the same, the finding for a failure, and which case of a test suite failed.
 */
#include "base/alloc.h"
#include "trial/failure.h"
#include "trial/suite-int.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 3;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* ---- which failures are the same ---- */

static void test_same(void **state)
{
	struct failure a = {.fault = "deadlock",
			    .place = "T_0\tm\tmutex-lock\ta.c:1: f\nT_1\tn\tmutex-lock\ta.c:2: g"};
	struct failure b = {.fault = "deadlock",
			    .place = "T_2\tm\tmutex-lock\ta.c:1: f\nT_0\tn\tmutex-lock\ta.c:2: g"};
	struct failure c = {.fault = "deadlock", .place = "T_2\tm\tmutex-lock\ta.c:1: f"};
	struct failure d = {.fault = "crash", .place = "a.c:1: f"},
		       e = {.fault = "crash", .place = "a.c:2: f"};
	struct failure none = {0};

	(void)state;
	assert_true(failure_is_same(&a, &b));
	assert_false(failure_is_same(&a, &c));
	assert_false(failure_is_same(&a, &d));
	assert_true(failure_is_same(&d, &d));
	assert_false(failure_is_same(&d, &e));
	assert_false(failure_is_same(&none, &none));
}

/* Deadlocks are the same if all their lines are, except for the names of the threads. */
static void test_same_waits(void **state)
{
	(void)state;
	for (int round = 0; round < 5000; round++) {
		char text[2][256] = {"", ""};
		unsigned count[2] = {1 + below(3), 1 + below(3)}, rest[2][3] = {{0}};
		struct failure f[2];
		bool same = count[0] == count[1];

		for (int k = 0; k < 2; k++) {
			for (unsigned i = 0; i < count[k]; i++) {
				size_t used = strlen(text[k]);

				rest[k][i] = below(2);
				snprintf(text[k] + used, sizeof text[k] - used,
					 "%sT_%u\tm\tmutex-lock\ta.c:%u: f", i ? "\n" : "", below(3),
					 rest[k][i]);
			}
			f[k] = (struct failure){.fault = "deadlock", .place = text[k]};
		}
		for (unsigned i = 0; same && i < count[0]; i++)
			same = rest[0][i] == rest[1][i];
		assert_int_equal(failure_is_same(&f[0], &f[1]), same);
	}
}

/* ---- the description of a failure ---- */

static struct trial run_of(const char *out, const char *errors)
{
	return (struct trial){.counts = true,
			      .end = REPLAY_EXITED,
			      .end_text = "the program ended with status 0",
			      .text = {{out, strlen(out)}, {errors, strlen(errors)}, {"", 0}}};
}

static void test_describe_passed(void **state)
{
	struct rd_arena *arena = rd_arena_new();
	struct trial t = run_of("[ RUN      ] a\n", "");
	struct replay_result r = {.turns.runner = "T_0"};
	struct failure f = {0};

	(void)state;
	failure_describe(&f, &t, &r, NULL, NULL, arena);
	assert_null(f.fault);
	assert_null(f.place);
	assert_null(f.test);
	assert_string_equal(f.thread, "T_0");
	assert_string_equal(f.end_text, t.end_text);
	rd_arena_free(arena);
}

/* A run ended with a status.  If a test case failed, it is the place. */
static void test_describe_judged(void **state)
{
	struct rd_arena *arena = rd_arena_new();
	struct trial t = run_of("[ RUN      ] b\n[  FAILED  ] b\n",
				"[   LINE   ] --- dir/s.c:10: error: Failure!\n"),
		     plain = run_of("hello\n", "");
	struct replay_result r = {0};
	struct failure f = {0}, g = {0};

	(void)state;
	failure_describe(&f, &t, &r, NULL, FAILURE_STATUS, arena);
	assert_string_equal(f.fault, FAILURE_STATUS);
	assert_string_equal(f.test, "b");
	assert_string_equal(f.place, "dir/s.c:10: b");
	assert_null(f.thread);
	failure_describe(&g, &plain, &r, NULL, FAILURE_JUDGED, arena);
	assert_string_equal(g.fault, FAILURE_JUDGED);
	assert_null(g.test);
	assert_null(g.place);
	rd_arena_free(arena);
}

static void test_describe_assertion(void **state)
{
	struct rd_arena *arena = rd_arena_new();
	struct trial t = run_of("", "one\nprog: a.c:12: main: Assertion `x == 1' failed.\n");
	struct replay_result r = {.turns.runner = "T_0_1"};
	struct failure f = {0};

	(void)state;
	t.fault = "assertion";
	t.end = REPLAY_SIGNALLED;
	t.status = SIGABRT;
	/* The judgement is ignored, because the run did not end by itself. */
	failure_describe(&f, &t, &r, NULL, FAILURE_STATUS, arena);
	assert_string_equal(f.fault, "assertion");
	assert_string_equal(f.place, "a.c:12: main");
	assert_string_equal(f.thread, "T_0_1");
	rd_arena_free(arena);
}

static void test_describe_memory_error(void **state)
{
	struct rd_arena *arena = rd_arena_new();
	struct trial t = run_of("", "");
	struct replay_result r = {.fault = {.what = "use after free", .thread = "T_0", .place = "a.c:3"}};
	struct failure f = {0}, crash = {0};

	(void)state;
	t.fault = "memory-error";
	failure_describe(&f, &t, &r, NULL, NULL, arena);
	assert_string_equal(f.place, "a.c:3");
	/* Without sites, the place of a crash is unknown. */
	t.fault = "crash";
	r.fault = (struct replay_fault){0};
	failure_describe(&crash, &t, &r, NULL, NULL, arena);
	assert_non_null(strstr(crash.place, "unknown"));
	rd_arena_free(arena);
}

/* Only the threads in the cycle are named.  The order of the lines does not depend on the order of
 * the waits. */
static void test_describe_deadlock(void **state)
{
	struct rd_arena *arena = rd_arena_new();
	struct replay_wait waits[] = {
		{.thread = "T_0", .name = "m", .kind = "mutex-lock", .core = true},
		{.thread = "T_0_0", .name = "n", .kind = "mutex-lock", .core = true},
		{.thread = "T_0_1", .name = "T_0", .kind = "thread-join"},
	};
	struct replay_result r = {.waits = waits, .wait_count = 3};
	struct trial t = run_of("", "");
	struct failure f = {0}, g = {0};

	(void)state;
	t.fault = "deadlock";
	t.end = REPLAY_DEADLOCKED;
	failure_describe(&f, &t, &r, NULL, NULL, arena);
	assert_non_null(strstr(f.place, "T_0\tm\tmutex-lock\t"));
	assert_non_null(strstr(f.place, "T_0_0\tn\tmutex-lock\t"));
	assert_null(strstr(f.place, "T_0_1"));
	assert_null(f.loops);
	failure_describe(&g, &t, &r, NULL, NULL, arena);
	assert_true(failure_is_same(&f, &g));
	rd_arena_free(arena);
}

/* A hang has no place, since a spinning thread is at another access in every run.  Its loops are
 * listed. */
static void test_describe_hang(void **state)
{
	struct rd_arena *arena = rd_arena_new();
	struct replay_weight threads[] = {{"T_0", 5, 3}, {"T_0_0", 7, 0}, {"T_0_1", 1, 4}};
	struct replay_result r = {.turns = {.threads = threads, .thread_count = 3}};
	struct trial t = run_of("", "");
	struct failure f = {0};

	(void)state;
	t.fault = "hang";
	failure_describe(&f, &t, &r, NULL, NULL, arena);
	assert_null(f.place);
	assert_true(!strncmp(f.loops, "T_0\t", 4));
	assert_non_null(strstr(f.loops, "\nT_0_1\t"));
	assert_null(strstr(f.loops, "T_0_0"));
	rd_arena_free(arena);
}

/* ---- the finding for a failure ---- */

static const struct finding *find(struct finding_set *set, const struct failure *f)
{
	struct schedule s;

	schedule_init(&s);
	s.turns = true;
	s.seed = 7;
	assert_int_equal(failure_add(set, f, &s, "seen once"), 0);
	schedule_release(&s);
	return set->items[set->count - 1];
}

static void test_add(void **state)
{
	struct finding_set *set = finding_set_new();
	struct failure crash = {.fault = "crash",
				.end_text = "the program was ended by signal 11 (Segmentation fault)",
				.place = "a.c:12: work",
				.thread = "T_0_0",
				.test = "b"},
		       hang = {.fault = "hang", .loops = "T_0\ta.c:3: f\nT_0_0\ta.c:4: g"},
		       deadlock = {.fault = "deadlock",
				   .place = "T_0\tm\tmutex-lock\ta.c:1: f\nT_1\tn\trwlock-wrlock\ta.c:2: g"};
	const struct finding *f = find(set, &crash);

	(void)state;
	assert_int_equal(f->kind, FINDING_FAILURE);
	assert_int_equal(f->status, FINDING_CONFIRMED);
	assert_string_equal(f->consequence, "crash");
	assert_int_equal(f->cycle_count, 1);
	assert_string_equal(f->cycle[0].wants, "signal 11 (Segmentation fault)");
	assert_string_equal(f->cycle[0].stack.frames[0].file, "a.c");
	assert_int_equal(f->cycle[0].stack.frames[0].line, 12);
	assert_string_equal(f->cycle[0].stack.frames[0].function, "work");
	assert_string_equal(f->threads[0].name, "T_0_0");
	assert_int_equal(f->schedule->seed, 7);
	assert_true(f->schedule->turns);
	f = find(set, &hang);
	assert_int_equal(f->cycle_count, 2);
	assert_string_equal(f->cycle[1].kind, "alive");
	assert_string_equal(f->cycle[1].thread, "T_0_0");
	f = find(set, &deadlock);
	assert_int_equal(f->kind, FINDING_DEADLOCK);
	assert_int_equal(f->cycle_count, 2);
	assert_string_equal(f->cycle[0].kind, "mutex");
	assert_string_equal(f->cycle[1].kind, "rwlock");
	assert_string_equal(f->cycle[1].wants, "n");
	finding_set_free(set);
}

/* ---- which case of a test suite failed ---- */

static void assert_case(const char *out, const char *errors, const char *name, const char *place)
{
	struct trial_text streams[2] = {{out, strlen(out)}, {errors, strlen(errors)}};
	struct suite_case c = suite_find(streams, 2);

	assert_string_equal(c.name, name);
	assert_string_equal(c.place, place);
}

static void test_suites(void **state)
{
	(void)state;
	assert_case("[ RUN      ] a\n[       OK ] a\n[ RUN      ] b\n[  FAILED  ] b\n",
		    "[  ERROR   ] --- 1 != 2\n[   LINE   ] --- dir/s.c:10: error: Failure!\n", "b",
		    "dir/s.c:10");
	assert_case("[ RUN      ] S.one\nx.cc:7: Failure\n[  FAILED  ] S.one (3 ms)\n[ RUN      ] S.two\n"
		    "[       OK ] S.two (0 ms)\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] S.one\n",
		    "", "S.one", "x.cc:7");
	assert_case("50%: Checks: 2, Failures: 1, Errors: 0\ns.c:31:F:Core:test_b:0: Failed\n", "", "test_b",
		    "s.c:31");
	assert_case("[ RUN      ] a\n[       OK ] a\n[ RUN      ] b\n", "", "b", "");
	assert_case("[ RUN      ] a\n[       OK ] a\n", "", "", "");
	assert_case("[  FAILED  ] 2 test(s), listed below:", "", "", "");
	assert_case("[\n[ RUN\n[ RUN ]\n:12:F:\nx:1:F:\nx:1:F:y\nx:1:F:y:\n", "", "", "");
}

/* Any bytes give a result without an endless loop. */
static void test_suites_random(void **state)
{
	static const char *const pieces[] = {"[ RUN ] ", "[ OK ] ",   "[ FAILED ] ", "[ LINE ] --- ",
					     "a.c:12",	 ": Failure", ":F:",	     ":",
					     "\n",	 "x",	      "1",	     " ",
					     "[",	 "]"};

	(void)state;
	for (int round = 0; round < 5000; round++) {
		char text[2][200] = {"", ""};

		for (int k = 0; k < 2; k++)
			for (uint32_t n = below(20); n > 0; n--)
				strcat(text[k], pieces[below(sizeof pieces / sizeof *pieces)]);
		struct trial_text streams[2] = {{text[0], strlen(text[0])}, {text[1], strlen(text[1])}};
		struct suite_case c = suite_find(streams, 2);

		/* A name is a word of the text, and a place is "file:line". */
		assert_true(!c.name[0] || strstr(text[0], c.name) || strstr(text[1], c.name));
		assert_true(!c.place[0] || strchr(c.place, ':'));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_same_waits),
		cmocka_unit_test(test_describe_passed),
		cmocka_unit_test(test_describe_judged),
		cmocka_unit_test(test_describe_assertion),
		cmocka_unit_test(test_describe_memory_error),
		cmocka_unit_test(test_describe_deadlock),
		cmocka_unit_test(test_describe_hang),
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_suites),
		cmocka_unit_test(test_suites_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
