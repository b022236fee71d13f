// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of the memory that agent and program share, and a driver that runs guarded programs without
 * a hive.
 *
 *   u-site-drive              runs the tests
 *   u-site-drive PROG [ARGS]  runs PROG with one task for each candidate and order, and prints a
 *                             line for each
 *
 * $DRIVE_TAU: microseconds for which a thread may be stopped.  $DRIVE_WATCH: use watchpoints.
 * $DRIVE_ONLY: a single candidate.  $DRIVE_LATE: a file; guards are inactive until the program
 * makes it, and the program is ended when it has found something.
 *
 * $DRIVE_AWAKE: one run with all regions enabled and without a task, for bench/guard.  Its value
 * names the program to run under (valgrind); if it is empty, the program is run directly.
 *
 * Time limits are long enough for a busy machine.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "site/session-int.h"

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

/* ---- the driver: a run with one task ---- */

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

/* Whether a program that does not end by itself has found something and can be ended. */
static bool has_found(const struct site_session *s)
{
	bool any = false;
	for (uint32_t i = 0; i < RADDLE_GUARD_REPORTS; i++)
		any |= atomic_load(&s->shared->reports[i].ready) != 0;
	return any;
}

static uint32_t command(struct site_session *s, const struct site_order *order)
{
	site_session_observe(s, 64);
	return site_session_give(s, order);
}

static int drive(const struct guard_table *t, const struct site_order *order, char **argv)
{
	const char *late = getenv("DRIVE_LATE");
	struct site_session s;
	pid_t pid;
	int status = 0;
	if (late != NULL)
		unlink(late);
	if (site_session_open(&s, t))
		return 2;
	atomic_store(&s.shared->pause_us, 1000000);
	atomic_store(&s.shared->track_permil, 1000);
	atomic_store(&s.shared->track_us, 60000000);
	atomic_store(&s.shared->patience_ms, 60000);
	atomic_store(&s.shared->watch, getenv("DRIVE_WATCH") != NULL);
	uint32_t generation = late == NULL ? command(&s, order) : 0;
	if (site_start(&s, argv[0], argv, &pid))
		return 2;
	for (int i = 0; waitpid(pid, &status, WNOHANG) == 0; i++) {
		site_session_beat(&s);
		usleep(STEP_US);
		if (generation == 0 && access(late, F_OK) == 0)
			generation = command(&s, order);
		if (i == STEPS || (late != NULL && has_found(&s)))
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

static int drive_awake(const struct guard_table *t, char **argv, const char *under)
{
	struct site_session s;
	pid_t pid;
	int status = 0;
	char **command = under[0] != 0 ? argv - 1 : argv;
	if (under[0] != 0)
		command[0] = (char *)under;
	if (site_session_open(&s, t))
		return 2;
	memset(s.regions, 1, RADDLE_GUARDS);
	if (site_start(&s, command[0], command, &pid))
		return 2;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		site_session_beat(&s);
		usleep(STEP_US);
	}
	site_session_close(&s);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

static int drive_all(char **argv)
{
	struct guard_table t;
	const char *tau = getenv("DRIVE_TAU"), *under = getenv("DRIVE_AWAKE"),
		   *shared = getenv("DRIVE_SHARED");
	if (guard_table_read(&t, argv[0]))
		return 2;
	if (under != NULL)
		return drive_awake(&t, argv, under);
	const char *only = getenv("DRIVE_ONLY");
	for (size_t i = 0; i < t.count; i++)
		for (int order = 0; order < (getenv("DRIVE_LATE") != NULL ? 1 : 2) &&
				    (only == NULL || strcmp(only, t.candidates[i].id) == 0);
		     order++)
			drive(&t,
			      &(struct site_order){(uint32_t)i, order, tau ? (uint32_t)atoi(tau) : 50000,
						   shared ? RADDLE_GUARD_SHARED_ONLY : 0},
			      argv);
	guard_table_release(&t);
	return 0;
}

/* ---- tests of the shared memory ---- */

static const char text[] = RADDLE_GUARD_TITLE "0123456789abcdef\n"
					      "a 7\n"
					      "a 8\n"
					      "a 9\n"
					      "c 00000000000000aa 0 1\n"
					      "c 00000000000000bb 2 2\n";

static const char where[] = "2 1\n0 0\n1 0\n2 1\n2 4\n";

static int parse(struct guard_table *t, const char *table, const char *regions)
{
	return guard_table_parse(t, &(struct guard_text){table, regions, strlen(table), strlen(regions)},
				 "test");
}

static void open_table(struct guard_table *t)
{
	assert_int_equal(parse(t, text, where), 0);
}

static void a_table_is_read(void **state)
{
	struct guard_table t;
	(void)state;
	open_table(&t);
	assert_string_equal(t.build, "0123456789abcdef");
	assert_int_equal(t.guards, 3);
	assert_int_equal(t.first[2], 2);
	assert_int_equal(t.first[3], 4);
	assert_int_equal(t.regions[2], 1);
	assert_int_equal(t.regions[3], 4);
	assert_int_equal(t.count, 2);
	assert_string_equal(t.candidates[1].id, "00000000000000bb");
	assert_int_equal(t.candidates[1].guard[0], 2);
	guard_table_release(&t);
}

static void bad_tables_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"raddle-guard 3 0123456789abcdef\n",
		RADDLE_GUARD_TITLE "short\n",
		RADDLE_GUARD_TITLE "0123456789abcdef\na 7 5\n",
		RADDLE_GUARD_TITLE "0123456789abcdef\nc 00000000000000aa 0 0\n",
		RADDLE_GUARD_TITLE "0123456789abcdef\na 7\nc 00000000000000aa 0 1\n",
		RADDLE_GUARD_TITLE "0123456789abcdef\na 7\nc 00aa 0 0\n",
	};
	(void)state;
	rd_log_set(rd_log_discard, NULL);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct guard_table t;
		assert_int_not_equal(parse(&t, bad[i], ""), 0);
		guard_table_release(&t);
	}
	static const char *const nowhere[] = {"3 0\n", "0 65536\n", "0\n", "0 1", "a 1\n", "0 1\n\n"};
	for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
		struct guard_table t;
		assert_int_not_equal(parse(&t, text, nowhere[i]), 0);
		guard_table_release(&t);
	}
}

static void tasks_set_flags_and_regions(void **state)
{
	struct guard_table t;
	struct site_session s;
	(void)state;
	open_table(&t);
	assert_int_equal(site_session_open(&s, &t), 0);
	uint32_t generation = site_session_give(&s, &(struct site_order){1, RADDLE_GUARD_ALTERNATE, 1000, 0});
	assert_int_not_equal(generation, 0);
	assert_int_equal(s.flags[0] | s.flags[1], 0);
	assert_int_equal(s.flags[2], RADDLE_GUARD_TASK);
	assert_int_equal(s.regions[0], 0);
	assert_int_equal(s.regions[1], 1);
	assert_int_equal(s.regions[4], 1);
	/* While guards are disabled, their tasks remain. */
	assert_false(site_session_is_busy(&s));
	site_session_rest(&s);
	assert_int_equal(s.regions[1] | s.regions[4], 0);
	assert_int_equal(s.flags[2], RADDLE_GUARD_TASK);
	atomic_store(&site_session_task(&s, generation)->active, 1);
	assert_true(site_session_is_busy(&s));
	site_session_wake(&s, 10);
	assert_int_equal(s.regions[1] & s.regions[4], 1);
	/* A guard that stopped because its calls were used up is enabled again.  A guard whose task
	 * is over is not. */
	s.flags[2] = 0;
	site_session_wake(&s, 10);
	assert_int_equal(s.flags[2], RADDLE_GUARD_TASK);
	s.flags[2] = 0;
	atomic_store(&site_session_task(&s, generation)->over, 1);
	site_session_wake(&s, 10);
	assert_int_equal(s.flags[2], 0);
	assert_int_equal(s.regions[1], 0);
	site_session_observe(&s, 3);
	assert_int_equal(s.flags[0], RADDLE_GUARD_OBSERVE);
	assert_int_equal(s.left[0], 3);
	site_session_quiet(&s);
	assert_int_equal(s.flags[0] | s.flags[1] | s.flags[2] | s.regions[0] | s.regions[1], 0);
	assert_null(site_session_task(&s, generation));
	site_session_close(&s);
	guard_table_release(&t);
}

/* Each ring consists of all guards of one region, and of no others. */
static void regions_are_rings(void **state)
{
	struct guard_table t;
	struct site_session s;
	(void)state;
	assert_int_equal(parse(&t, text, "0 9\n1 9\n2 9\n1 3\n2 7\n0 7\n"), 0);
	assert_int_equal(site_session_open(&s, &t), 0);
	const uint32_t *first = (void *)((char *)s.shared + RADDLE_GUARD_FIRST_AT(t.count));
	const struct raddle_guard_place *places =
		(void *)((char *)s.shared + RADDLE_GUARD_PLACES_AT(t.count));
	assert_int_equal(s.shared->place_count, 6);
	assert_int_equal(first[3], 6);
	for (uint32_t g = 0; g < 3; g++)
		for (uint32_t i = first[g]; i < first[g + 1]; i++) {
			uint32_t members = 0, at = i;
			do {
				assert_int_equal(places[at].region, places[i].region);
				members |= 1u << places[at].guard;
				at = places[at].next;
			} while (at != i);
			assert_int_equal(places[i].guard, g);
			assert_int_equal(members, places[i].region == 9 ? 7 : places[i].region == 7 ? 5 : 2);
		}
	site_session_close(&s);
	guard_table_release(&t);
}

/* If the program has disabled a region because its calls were used up, the region stays disabled
 * until it is woken. */
static void settling_wakes_nobody(void **state)
{
	struct guard_table t;
	struct site_session s;
	(void)state;
	open_table(&t);
	assert_int_equal(site_session_open(&s, &t), 0);
	site_session_observe(&s, 3);
	assert_int_equal(s.regions[0] & s.regions[1] & s.regions[4], 1);
	s.regions[1] = 0;
	s.flags[0] = s.flags[1] = 0;
	site_session_settle(&s);
	assert_int_equal(s.regions[0] | s.regions[1], 0);
	assert_int_equal(s.regions[4], 1);
	site_session_wake(&s, 10);
	assert_int_equal(s.regions[0], 0);
	assert_int_equal(s.regions[1] & s.regions[4], 1);
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
		cmocka_unit_test(tasks_set_flags_and_regions),
		cmocka_unit_test(regions_are_rings),
		cmocka_unit_test(settling_wakes_nobody),
		cmocka_unit_test(wild_reports_are_dropped),
	};
	return argc > 1 ? drive_all(argv + 1) : cmocka_run_group_tests(tests, NULL, NULL);
}
