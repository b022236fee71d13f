/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of prediction in small named situations, each written as STD text
 * (doc/format/std.md).  They include one situation for each primitive, situations about which
 * users of lock-order checkers complain, and the example of Carril and Tichy (2015).  Other tests
 * check that the validator rejects bad witnesses.
 */
#include "predict/std.h"

#include "base/buf.h"
#include "base/error.h"
#include "predict/plan-int.h"
#include "predict/predict-int.h"
#include "predict/validate.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* In the texts below, blanks separate events.  Their locations are numbered from 1. */
static const struct exec *fill(struct std_case *c, const char *text)
{
	struct rd_buf b = RD_BUF_INIT;
	int line = 0;

	while (*text) {
		size_t n = strcspn(text, " ");
		if (n) {
			rd_buf_add(&b, text, n);
			rd_buf_addf(&b, "|%d\n", ++line);
		}
		text += n + (text[n] == ' ');
	}
	char *directory = std_case_directory();
	assert_int_equal(std_case_open(c, directory, b.data, b.length), 0);
	free(directory);
	assert_int_equal(c->t.dropped, 0);
	rd_buf_release(&b);
	return &c->t.x;
}

static void validate(const struct exec *x, const struct predict_result *r)
{
	for (size_t i = 0; i < r->race_count; i++) {
		const struct predict_race *c = &r->races[i];
		uint32_t pair[] = {c->first, c->second};
		assert_null(predict_validate(x, c->class == PREDICT_SOUND, pair, 2, &c->witness));
	}
	for (size_t i = 0; i < r->deadlock_count; i++) {
		const struct predict_deadlock *c = &r->deadlocks[i];
		assert_null(predict_validate(x, c->class == PREDICT_SOUND, c->stops, c->count, &c->witness));
	}
}

struct counts {
	unsigned sound, speculative;
};

static struct counts count(const char *text, bool deadlocks)
{
	struct predict_opts o = {.no_races = deadlocks, .no_deadlocks = !deadlocks};
	struct predict_result r;
	struct counts c = {0};
	struct std_case std;
	const struct exec *x = fill(&std, text);

	assert_int_equal(predict_run(x, &o, &r), 0);
	validate(x, &r);
	for (size_t i = 0; i < r.race_count; i++)
		++*(r.races[i].class == PREDICT_SOUND ? &c.sound : &c.speculative);
	for (size_t i = 0; i < r.deadlock_count; i++)
		++*(r.deadlocks[i].class == PREDICT_SOUND ? &c.sound : &c.speculative);
	predict_result_release(&r);
	std_case_close(&std);
	return c;
}

#define RACES(text, n, m) expect_counts(text, false, n, m, __LINE__)
#define DEADLOCKS(text, n, m) expect_counts(text, true, n, m, __LINE__)

static void expect_counts(const char *text, bool deadlocks, unsigned sound, unsigned speculative, int line)
{
	struct counts c = count(text, deadlocks);

	if (c.sound != sound || c.speculative != speculative)
		fail_msg("line %d: expected %u sound and %u speculative, got %u and %u", line, sound,
			 speculative, c.sound, c.speculative);
}

/* ---- which races are predicted, sound and speculative ---- */

static void test_races(void **state)
{
	(void)state;
	RACES("T0|fork(T1) T0|w(x) T1|w(x)", 1, 0);
	RACES("T0|fork(T1) T0|w(x) T1|r(x)", 1, 0);
	RACES("T0|fork(T1) T0|r(x) T1|r(x)", 0, 0);
	RACES("T0|w(x) T0|fork(T1) T1|w(x)", 0, 0);
	RACES("T0|fork(T1) T1|w(x) T0|join(T1) T0|w(x)", 0, 0);
	RACES("T0|acq(m) T0|w(x) T0|rel(m) T1|acq(m) T1|w(x) T1|rel(m)", 0, 0);
	/* A lock orders the accesses only by chance. */
	RACES("T0|w(x) T0|acq(m) T0|rel(m) T1|acq(m) T1|rel(m) T1|w(x)", 1, 0);
	/* The race needs the sections in the opposite order. */
	RACES("T0|acq(m) T0|rel(m) T0|w(x) T1|acq(m) T1|w(x) T1|rel(m)", 1, 0);
	/* The second thread may continue only because of the value that it read under the lock. */
	RACES("T0|w(x) T0|acq(m) T0|w(f) T0|rel(m) T1|acq(m) T1|r(f) T1|rel(m) T1|w(x)", 0, 1);
}

static void test_races_of_primitives(void **state)
{
	(void)state;
	RACES("T0|rdacq(l) T0|r(x) T0|rwrel(l) T1|wracq(l) T1|w(x) T1|rwrel(l)", 0, 0);
	RACES("T0|rdacq(l) T0|w(x) T0|rwrel(l) T1|rdacq(l) T1|w(x) T1|rwrel(l)", 1, 0);
	RACES("T0|w(x) T0|enter(b) T1|enter(b) T1|exit(b) T0|exit(b) T1|w(x)", 0, 0);
	RACES("T0|w(x) T0|enter(b) T1|enter(b) T1|exit(b) T0|exit(b) T1|r(y) T0|w(y)", 1, 0);
	RACES("T0|w(x) T0|post(s) T1|take(s) T1|w(x)", 0, 0);
	RACES("T0|seminit(s,1) T0|w(x) T0|post(s) T1|take(s) T1|w(x)", 1, 0);
	/* The take can use either post. */
	RACES("T0|w(x) T0|post(s) T2|post(s) T1|take(s) T1|w(x)", 1, 0);
	RACES("T1|acq(m) T1|cwait(c,m) T0|w(x) T0|signal(c) T1|wake(c) T1|acq(m) T1|w(x) T1|rel(m)", 0, 0);
	RACES("T1|acq(m) T1|cwait(c,m) T0|w(x) T1|wake(c) T1|acq(m) T1|w(x) T1|rel(m)", 1, 0);
	RACES("T0|run(o) T0|fork(T1) T1|pass(o)", 0, 0);
	RACES("T0|w(x) T0|run(o) T1|pass(o) T1|w(x)", 0, 0);
	RACES("T0|tryacq(m) T0|w(x) T0|rel(m) T1|acq(m) T1|w(x) T1|rel(m)", 0, 0);
}

static void test_atomics(void **state)
{
	(void)state;
	RACES("T0|aw(x) T1|ar(x)", 0, 0);
	RACES("T0|aw(x) T1|r(x)", 1, 0);
	RACES("T0|w(d) T0|awr(f) T1|ara(f) T1|r(d)", 0, 0);
	RACES("T0|w(d) T0|aw(f) T1|ar(f) T1|r(d)", 0, 1);
	RACES("T0|au(x) T1|au(x)", 0, 0);
}

/* The wait did not happen in the run, so only its predicate orders the threads. */
static void test_wait_loops(void **state)
{
	(void)state;
	RACES("T0|w(x) T0|acq(m) T0|w(f) T0|signal(c) T0|rel(m) T1|acq(m) T1|r(f) T1|rel(m) T1|w(x)", 0, 1);
	RACES("T0|w(x) T0|acq(m) T0|w(f) T0|signal(c) T0|rel(m) T1|acq(m) T1|lr(f) T1|rel(m) T1|w(x)", 0, 0);
	DEADLOCKS("T1|acq(m) T1|lr(f) T1|cwait(c,m) T0|acq(m) T0|w(f) T0|signal(c) T0|rel(m) T1|wake(c) "
		  "T1|acq(m) T1|lr(f) "
		  "T1|rel(m)",
		  0, 0);
}

/* T1 accesses x only because its attempt to take the lock failed. */
static void test_failed_try(void **state)
{
	(void)state;
	RACES("T0|w(x) T0|acq(m) T1|busy(m) T1|w(x) T0|rel(m)", 0, 1);
	RACES("T0|acq(m) T0|w(x) T1|busy(m) T1|w(x) T0|rel(m)", 1, 0);
	RACES("T0|acq(m) T1|busy(m) T1|w(x) T0|rel(m) T0|w(x)", 1, 0);
}

/* If the time is up, the remaining candidates count as undecided, not as absent. */
static void test_deadline(void **state)
{
	struct predict_opts o = {.deadline_ns = 1};
	struct predict_result r;
	struct std_case std;

	(void)state;
	const struct exec *x = fill(&std, "T1|w(x) T2|w(x) T1|acq(a) T1|acq(b) T1|rel(b) T1|rel(a) "
					  "T2|acq(b) T2|acq(a) T2|rel(a) T2|rel(b)");
	assert_int_equal(predict_run(x, &o, &r), 0);
	assert_true(r.late);
	assert_int_equal(r.race_count + r.deadlock_count, 0);
	assert_true(r.stats[PREDICT_SOUND].unknown >= 2);
	assert_true(r.stats[PREDICT_SPECULATIVE].unknown >= 2);
	predict_result_release(&r);
	o.deadline_ns = INT64_MAX;
	assert_int_equal(predict_run(x, &o, &r), 0);
	assert_false(r.late);
	assert_int_equal(r.race_count, 1);
	assert_int_equal(r.deadlock_count, 1);
	predict_result_release(&r);
	std_case_close(&std);
}

/* In listing 1 of the paper, it suffices to stop the threads before the two accesses. */
static void test_paper_example(void **state)
{
	struct predict_opts o = {.speculative_only = true};
	struct predict_result r;
	struct std_case std;
	struct lines lines;
	struct predict_plan plan;

	(void)state;
	const struct exec *x = fill(&std, "T1|w(y) T1|fork(T2) T1|w(y) T1|acq(m) T1|r(x) T1|w(x) T1|rel(m) "
					  "T2|acq(m) T2|r(x) T2|w(x) T2|rel(m) T2|w(y) T1|join(T2)");
	assert_int_equal(predict_run(x, &o, &r), 0);
	assert_int_equal(r.race_count, 1);
	assert_int_equal(r.races[0].first, 2);
	assert_int_equal(r.races[0].second, 11);
	validate(x, &r);
	predict_lines_init(&lines, x);
	predict_plan_make(&lines, &r.races[0].witness, (uint32_t[]){2, 11}, 2, &plan);
	predict_lines_release(&lines);
	/* The operations are the fork, which the program orders anyway, and T2's section, which
	 * T1's does not overlap. */
	assert_int_equal(plan.operations, 3);
	assert_int_equal(plan.count, 0);
	predict_plan_release(&plan);
	predict_result_release(&r);
	std_case_close(&std);
}

/* ---- which deadlocks are predicted, sound and speculative ---- */

#define AB(t) t "|acq(a) " t "|acq(b) " t "|rel(b) " t "|rel(a) "
#define BA(t) t "|acq(b) " t "|acq(a) " t "|rel(a) " t "|rel(b) "

static void test_lock_cycles(void **state)
{
	(void)state;
	DEADLOCKS(AB("T1") BA("T2"), 1, 0);
	DEADLOCKS(AB("T1") AB("T2"), 0, 0);
	/* Both orders occur in one thread only. */
	DEADLOCKS(AB("T1") BA("T1") "T2|acq(a) T2|rel(a) T2|acq(b) T2|rel(b)", 0, 0);
	/* A lock around both sections (a gate lock) prevents the deadlock. */
	DEADLOCKS("T1|acq(g) " AB("T1") "T1|rel(g) T2|acq(g) " BA("T2") "T2|rel(g)", 0, 0);
	/* The sections are ordered by fork, or by join. */
	DEADLOCKS(AB("T1") "T1|fork(T2) " BA("T2"), 0, 0);
	DEADLOCKS("T1|fork(T2) " BA("T2") "T1|join(T2) " AB("T1"), 0, 0);
	/* Thread 1 takes A and B, releases A and takes C.  The edges a-b, b-c and c-a exist, but no
	 * cycle is possible. */
	DEADLOCKS("T1|acq(a) T1|acq(b) T1|rel(a) T1|acq(c) T1|rel(c) T1|rel(b) "
		  "T2|acq(c) T2|acq(a) T2|rel(a) T2|rel(c)",
		  0, 0);
	/* Attempts (try) and timed acquisitions do not wait forever. */
	DEADLOCKS(AB("T1") "T2|acq(b) T2|tryacq(a) T2|rel(a) T2|rel(b)", 0, 0);
	DEADLOCKS(AB("T1") "T2|tryacq(b) T2|acq(a) T2|rel(a) T2|rel(b)", 1, 0);
	/* Cycles of three and four threads. */
	DEADLOCKS("T1|acq(a) T1|acq(b) T1|rel(b) T1|rel(a) T2|acq(b) T2|acq(c) T2|rel(c) T2|rel(b) "
		  "T3|acq(c) T3|acq(a) T3|rel(a) T3|rel(c)",
		  1, 0);
	DEADLOCKS("T1|acq(a) T1|acq(b) T1|rel(b) T1|rel(a) T2|acq(b) T2|acq(c) T2|rel(c) T2|rel(b) "
		  "T3|acq(c) T3|acq(d) T3|rel(d) T3|rel(c) T4|acq(d) T4|acq(a) T4|rel(a) T4|rel(d)",
		  1, 0);
	/* A value orders the two sections. */
	DEADLOCKS("T1|acq(a) T1|acq(b) T1|w(f) T1|rel(b) T1|rel(a) T2|r(f) " BA("T2"), 0, 1);
}

static void test_rwlock_cycles(void **state)
{
	(void)state;
	DEADLOCKS("T1|rdacq(a) T1|rdacq(b) T1|rwrel(b) T1|rwrel(a) T2|rdacq(b) T2|rdacq(a) T2|rwrel(a) "
		  "T2|rwrel(b)",
		  0, 0);
	DEADLOCKS("T1|rdacq(a) T1|wracq(b) T1|rwrel(b) T1|rwrel(a) T2|rdacq(b) T2|wracq(a) T2|rwrel(a) "
		  "T2|rwrel(b)",
		  1, 0);
	DEADLOCKS("T1|wracq(a) T1|rdacq(b) T1|rwrel(b) T1|rwrel(a) T2|wracq(b) T2|rdacq(a) T2|rwrel(a) "
		  "T2|rwrel(b)",
		  1, 0);
	DEADLOCKS("T1|rdacq(a) T1|acq(m) T1|rel(m) T1|rwrel(a) T2|acq(m) T2|rdacq(a) T2|rwrel(a) T2|rel(m)",
		  0, 0);
	/* A read-write lock guards the inversion.  It prevents the deadlock if one thread holds it
	 * for writing, but not if both threads hold it for reading. */
	DEADLOCKS("T1|rdacq(g) " AB("T1") "T1|rwrel(g) T2|rdacq(g) " BA("T2") "T2|rwrel(g)", 1, 0);
	DEADLOCKS("T1|wracq(g) " AB("T1") "T1|rwrel(g) T2|rdacq(g) " BA("T2") "T2|rwrel(g)", 0, 0);
}

static void test_mixed_cycles(void **state)
{
	(void)state;
	/* A thread joins another while it holds a lock that the other one needs. */
	DEADLOCKS("T0|fork(T1) T1|acq(a) T1|rel(a) T0|acq(a) T0|join(T1) T0|rel(a)", 1, 0);
	/* A thread waits while it holds a second lock, which the signalling thread needs. */
	DEADLOCKS("T0|acq(a) T0|rel(a) T1|acq(a) T1|acq(m) T1|r(f) T1|cwait(c,m) T0|acq(m) T0|w(f) "
		  "T0|signal(c) T0|rel(m) "
		  "T1|wake(c) T1|acq(m) T1|rel(m) T1|rel(a)",
		  1, 1);
	/* A thread waits at a barrier or a semaphore while it holds a lock. */
	DEADLOCKS("T2|acq(a) T2|rel(a) T1|acq(a) T1|enter(b) T2|enter(b) T1|exit(b) T2|exit(b) T1|rel(a)", 1,
		  0);
	DEADLOCKS("T2|acq(a) T2|rel(a) T2|post(s) T1|acq(a) T1|take(s) T1|rel(a)", 1, 0);
	DEADLOCKS("T2|acq(a) T2|rel(a) T2|post(s) T3|post(s) T1|acq(a) T1|take(s) T1|rel(a)", 0, 0);
	/* The semaphore is used as a lock. */
	DEADLOCKS("T0|seminit(s,1) T1|take(s) T1|acq(a) T1|rel(a) T1|post(s) T2|acq(a) T2|take(s) T2|post(s) "
		  "T2|rel(a)",
		  1, 0);
}

static void test_lost_signals(void **state)
{
	(void)state;
	/* Without a predicate, the signal can come before the wait. */
	DEADLOCKS("T1|acq(m) T1|cwait(c,m) T0|acq(m) T0|signal(c) T0|rel(m) T1|wake(c) T1|acq(m) T1|rel(m)",
		  1, 0);
	/* A predicate that is read under the mutex prevents that. */
	DEADLOCKS("T1|acq(m) T1|r(f) T1|cwait(c,m) T0|acq(m) T0|w(f) T0|signal(c) T0|rel(m) T1|wake(c) "
		  "T1|acq(m) T1|r(f) "
		  "T1|rel(m)",
		  0, 1);
	/* One broadcast wakes two waiting threads. */
	DEADLOCKS("T1|acq(m) T1|r(f) T1|cwait(c,m) T2|acq(m) T2|r(f) T2|cwait(c,m) T0|acq(m) T0|w(f) "
		  "T0|broadcast(c) "
		  "T0|rel(m) T1|wake(c) T1|acq(m) T1|rel(m) T2|wake(c) T2|acq(m) T2|rel(m)",
		  0, 2);
	/* The signalling thread does not take the mutex. */
	DEADLOCKS("T1|acq(m) T1|cwait(c,m) T0|signal(c) T1|wake(c) T1|acq(m) T1|w(f) T1|rel(m)", 1, 0);
}

static void test_self_deadlock(void **state)
{
	struct predict_opts o = {0};
	struct predict_result r;
	struct exec x;

	(void)state;
	exec_init(&x);
	exec_add(&x, EXEC_LOCK, 0, 0);
	exec_add(&x, EXEC_LOCK, 0, 0)->flags = EXEC_PENDING;
	assert_int_equal(predict_run(&x, &o, &r), 0);
	assert_int_equal(r.deadlock_count, 1);
	assert_int_equal(r.deadlocks[0].count, 1);
	assert_int_equal(r.deadlocks[0].stops[0], 1);
	validate(&x, &r);
	predict_result_release(&r);
	exec_release(&x);
}

static void add_nested(struct exec *x, uint32_t thread, uint32_t locks, bool reverse_last)
{
	for (uint32_t l = 0; l < locks; l++) {
		uint32_t lock = reverse_last && l >= locks - 2 ? 2 * locks - 3 - l : l;
		exec_add(x, EXEC_LOCK, thread, lock)->site = thread * 100000 + l;
	}
	for (uint32_t l = locks; l-- > 0;)
		exec_add(x, EXEC_UNLOCK, thread, l);
}

/* Threads hold hundreds of locks at once, without and with an inversion at the end.  The locks
 * around the inversion prevent the deadlock. */
static void test_many_held(void **state)
{
	for (int reversed = 0; reversed < 2; reversed++) {
		struct predict_opts o = {0};
		struct predict_result r;
		struct exec x;

		(void)state;
		exec_init(&x);
		add_nested(&x, 0, 200, false);
		add_nested(&x, 1, 200, reversed);
		assert_int_equal(predict_run(&x, &o, &r), 0);
		assert_int_equal(r.deadlock_count, 0);
		predict_result_release(&r);
		exec_release(&x);
	}
}

/* Ten thousand mutexes are taken in pairs.  One pair is taken in both orders. */
static void test_many_mutexes(void **state)
{
	struct predict_opts o = {0};
	struct predict_result r;
	struct exec x;

	(void)state;
	exec_init(&x);
	for (uint32_t t = 0; t < 2; t++)
		for (uint32_t l = 0; l < 10000; l += 2) {
			bool reverse = t == 1 && l == 5000;
			exec_add(&x, EXEC_LOCK, t, reverse ? l + 1 : l)->site = 1;
			exec_add(&x, EXEC_LOCK, t, reverse ? l : l + 1)->site = 2;
			exec_add(&x, EXEC_UNLOCK, t, l);
			exec_add(&x, EXEC_UNLOCK, t, l + 1);
		}
	assert_int_equal(predict_run(&x, &o, &r), 0);
	assert_int_equal(r.deadlock_count, 1);
	validate(&x, &r);
	predict_result_release(&r);
	exec_release(&x);
}

/* ---- witnesses that the validator rejects ---- */

static void test_validator_refuses(void **state)
{
	uint32_t done[] = {6, 2}, order[] = {0, 1, 2, 3, 4, 5, 6}, pair[] = {7, 3};
	struct predict_witness w = {done, order, 7};
	struct std_case std;

	(void)state;
	const struct exec *x =
		fill(&std, "T0|acq(m) T0|w(x) T0|rel(m) T1|w(y) T0|acq(m) T0|r(x) T0|rel(m) T0|w(y) T1|r(x)");
	/* Event 3 is a target and must not run. */
	assert_string_equal(predict_validate(x, true, pair, 2, &w), "the schedule runs over a target");
	uint32_t good[] = {0, 1, 2, 4, 5, 6};
	w = (struct predict_witness){done, good, 6};
	assert_null(predict_validate(x, true, pair, 2, &w));
	uint32_t wrong_pair[] = {5, 3};
	assert_non_null(predict_validate(x, true, wrong_pair, 2, &w));
	std_case_close(&std);

	x = fill(&std, "T0|acq(m) T0|w(x) T0|rel(m) T1|acq(m) T1|r(x) T1|rel(m) T1|w(z) T0|w(z)");
	uint32_t reversed[] = {3, 4, 5, 0, 1, 2}, overlap[] = {0, 3, 4, 5, 1, 2}, zs[] = {6, 7};
	w = (struct predict_witness){done, reversed, 6};
	assert_string_equal(predict_validate(x, true, zs, 2, &w), "a read finds another write than recorded");
	assert_null(predict_validate(x, false, zs, 2, &w));
	w.order = overlap;
	assert_string_equal(predict_validate(x, false, zs, 2, &w),
			    "acquires a lock that another thread holds");
	std_case_close(&std);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_races),
		cmocka_unit_test(test_races_of_primitives),
		cmocka_unit_test(test_atomics),
		cmocka_unit_test(test_wait_loops),
		cmocka_unit_test(test_failed_try),
		cmocka_unit_test(test_paper_example),
		cmocka_unit_test(test_lock_cycles),
		cmocka_unit_test(test_rwlock_cycles),
		cmocka_unit_test(test_mixed_cycles),
		cmocka_unit_test(test_lost_signals),
		cmocka_unit_test(test_self_deadlock),
		cmocka_unit_test(test_many_held),
		cmocka_unit_test(test_many_mutexes),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_validator_refuses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
