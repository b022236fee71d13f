// SPDX-License-Identifier: Apache-2.0
/*
 * The memory between agent and program, and guarded programs without a hive.
 *
 *	u-site-drive			tests
 *	u-site-drive PROG [ARGS]	a run for each candidate and order with that task, one line for each;
 *					$DRIVE_TAU: microseconds that a thread may be held, $DRIVE_WATCH: with
 *watchpoints
 *
 * What is measured in time is set so that a busy machine changes nothing.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "site/session.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { STEP_US = 2000, STEPS = 5000 };

/* ---- a run with one task ---- */

static void print_reports(struct site_session *s, const struct raddle_guard_task *task)
{
	static const char *const results[] = {"", "race", "no-race", "timeout"};
	struct raddle_guard_report r;
	bool found = false;
	while (site_session_report(s, &r)) {
		printf(" %s/%s%s%s", results[r.result], r.order ? "alternate" : "primary",
		       r.proof ? "/collision" : "", r.watched ? "/watched" : "");
		found = true;
	}
	if (!found)
		printf(" %s", task != NULL && task->ordered ? "no-race" : "not-seen");
}

static int drive(const struct guard_table *t, const struct site_order *order, char **argv)
{
	struct site_session s;
	pid_t pid;
	int status = 0;
	if (site_session_open(&s, t))
		return 2;
	atomic_store(&s.shared->pause_us, 1000000);
	atomic_store(&s.shared->track_permil, 1000);
	atomic_store(&s.shared->track_us, 60000000);
	atomic_store(&s.shared->patience_ms, 60000);
	atomic_store(&s.shared->watch, getenv("DRIVE_WATCH") != NULL);
	site_session_observe(&s, 64);
	uint32_t generation = site_session_give(&s, order);
	if (site_start(&s, argv[0], argv, &pid))
		return 2;
	for (int i = 0; waitpid(pid, &status, WNOHANG) == 0; i++) {
		site_session_beat(&s);
		usleep(STEP_US);
		if (i == STEPS)
			kill(pid, SIGKILL);
	}
	printf("%s %s", t->candidates[order->candidate].id, order->order ? "alternate" : "primary");
	const struct raddle_guard_task *task = site_session_task(&s, generation);
	print_reports(&s, task);
	printf(" context=%u calls=%llu status=%x\n", s.pairs[order->candidate].context,
	       (unsigned long long)s.shared->calls, (unsigned)status);
	site_session_close(&s);
	return 0;
}

static int drive_all(char **argv)
{
	struct guard_table t;
	const char *tau = getenv("DRIVE_TAU");
	if (guard_table_read(&t, argv[0]))
		return 2;
	for (size_t i = 0; i < t.count; i++)
		for (int order = 0; order < 2; order++)
			drive(&t, &(struct site_order){(uint32_t)i, order, tau ? (uint32_t)atoi(tau) : 50000},
			      argv);
	guard_table_release(&t);
	return 0;
}

/* ---- tests ---- */

static const char text[] = RADDLE_GUARD_TITLE "0123456789abcdef\n"
					      "a 7 0\n"
					      "a 8 0\n"
					      "a 9 1\n"
					      "c 00000000000000aa 0 1\n"
					      "c 00000000000000bb 2 2\n";

static void open_table(struct guard_table *t)
{
	assert_int_equal(guard_table_parse(t, text, strlen(text), "test"), 0);
}

static void a_table_is_read(void **state)
{
	struct guard_table t;
	(void)state;
	open_table(&t);
	assert_string_equal(t.build, "0123456789abcdef");
	assert_int_equal(t.guards, 3);
	assert_int_equal(t.groups[2], 1);
	assert_int_equal(t.count, 2);
	assert_string_equal(t.candidates[1].id, "00000000000000bb");
	assert_int_equal(t.candidates[1].guard[0], 2);
	guard_table_release(&t);
}

static void bad_tables_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"raddle-guard 2 0123456789abcdef\n",
		RADDLE_GUARD_TITLE "short\n",
		RADDLE_GUARD_TITLE "0123456789abcdef\na 7\n",
		RADDLE_GUARD_TITLE "0123456789abcdef\na 7 65536\n",
		RADDLE_GUARD_TITLE "0123456789abcdef\nc 00000000000000aa 0 0\n",
		RADDLE_GUARD_TITLE "0123456789abcdef\na 7 0\nc 00000000000000aa 0 1\n",
		RADDLE_GUARD_TITLE "0123456789abcdef\na 7 0\nc 00aa 0 0\n",
	};
	(void)state;
	rd_log_set(rd_log_discard, NULL);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct guard_table t;
		assert_int_not_equal(guard_table_parse(&t, bad[i], strlen(bad[i]), "test"), 0);
		guard_table_release(&t);
	}
}

static void tasks_set_flags_and_groups(void **state)
{
	struct guard_table t;
	struct site_session s;
	(void)state;
	open_table(&t);
	assert_int_equal(site_session_open(&s, &t), 0);
	uint32_t generation = site_session_give(&s, &(struct site_order){1, RADDLE_GUARD_ALTERNATE, 1000});
	assert_int_not_equal(generation, 0);
	assert_int_equal(s.flags[0] | s.flags[1], 0);
	assert_int_equal(s.flags[2], RADDLE_GUARD_TASK);
	assert_int_equal(s.groups[0], 0);
	assert_int_equal(s.groups[1], 1);
	/* One that fell quiet for lack of calls is awake again; one that is over is not. */
	s.flags[2] = 0;
	site_session_wake(&s, 10);
	assert_int_equal(s.flags[2], RADDLE_GUARD_TASK);
	s.flags[2] = 0;
	atomic_store(&site_session_task(&s, generation)->over, 1);
	site_session_wake(&s, 10);
	assert_int_equal(s.flags[2], 0);
	assert_int_equal(s.groups[1], 0);
	site_session_observe(&s, 3);
	assert_int_equal(s.flags[0], RADDLE_GUARD_OBSERVE);
	assert_int_equal(s.left[0], 3);
	site_session_quiet(&s);
	assert_int_equal(s.flags[0] | s.flags[1] | s.flags[2] | s.groups[0] | s.groups[1], 0);
	assert_null(site_session_task(&s, generation));
	site_session_close(&s);
	guard_table_release(&t);
}

/* A program may write anything into its reports. */
static void wild_reports_are_dropped(void **state)
{
	struct guard_table t;
	struct site_session s;
	struct raddle_guard_report r;
	(void)state;
	open_table(&t);
	assert_int_equal(site_session_open(&s, &t), 0);
	s.shared->reports[0] = (struct raddle_guard_report){.ready = 1, .result = 99, .order = 7};
	assert_false(site_session_report(&s, &r));
	s.shared->reports[5] = (struct raddle_guard_report){
		.ready = 1, .generation = 4, .result = RADDLE_GUARD_RACE, .order = RADDLE_GUARD_ALTERNATE};
	assert_true(site_session_report(&s, &r));
	assert_int_equal(r.generation, 4);
	assert_int_equal(r.order, RADDLE_GUARD_ALTERNATE);
	assert_false(site_session_report(&s, &r));
	site_session_close(&s);
	guard_table_release(&t);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_is_read),
		cmocka_unit_test(bad_tables_are_refused),
		cmocka_unit_test(tasks_set_flags_and_groups),
		cmocka_unit_test(wild_reports_are_dropped),
	};
	return argc > 1 ? drive_all(argv + 1) : cmocka_run_group_tests(tests, NULL, NULL);
}
