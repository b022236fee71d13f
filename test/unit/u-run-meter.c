// SPDX-License-Identifier: Apache-2.0
/* Unit tests of run/meter.h: the names of ends, and limits of a program that sleeps or computes. */
#include "run/meter.h"

#include "base/clock.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define EXITED(code) ((code) << 8)

static void ends_have_names(void **state)
{
	(void)state;
	assert_int_equal(run_how_of(EXITED(0), RUN_EXITED, 0), RUN_EXITED);
	assert_int_equal(run_how_of(EXITED(3), RUN_EXITED, 5), RUN_EXITED);
	assert_int_equal(run_how_of(SIGSEGV, RUN_EXITED, 0), RUN_SIGNALLED);
	assert_int_equal(run_how_of(SIGKILL, RUN_EXITED, 0), RUN_SIGNALLED);
	assert_int_equal(run_how_of(SIGKILL, RUN_EXITED, 1), RUN_OUT_OF_MEMORY);
	assert_int_equal(run_how_of(SIGTERM, RUN_EXITED, 1), RUN_SIGNALLED);
}

/* If Raddle ended the program, Raddle's reason counts, whatever the status of the program is. */
static void our_reason_counts(void **state)
{
	(void)state;
	for (enum run_how how = RUN_TIMED_OUT; how <= RUN_INTERRUPTED; how++) {
		assert_int_equal(run_how_of(SIGKILL, how, 1), how);
		assert_int_equal(run_how_of(EXITED(0), how, 0), how);
	}
}

static pid_t start(bool computes)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		for (;;)
			if (!computes)
				pause();
	return pid;
}

/* Watches the program until the meter has ended it. */
static struct run_end end_of(struct run_meter *m, pid_t pid)
{
	struct run_end end;
	int status;

	for (;;) {
		run_meter_look(m, pid);
		if (waitpid(pid, &status, WNOHANG) == pid)
			break;
		usleep(1000);
	}
	run_meter_stop(m, pid, status, &end);
	return end;
}

static void a_sleeping_program_stalls(void **state)
{
	struct run_limits limits = {.wall_ms = 50, .patience = 1000};
	struct run_meter m;
	pid_t pid = start(false);
	struct run_end end;

	(void)state;
	run_meter_start(&m, &limits, false);
	end = end_of(&m, pid);
	assert_int_equal(end.how, RUN_STALLED);
	assert_true(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGKILL);
}

static void a_computing_program_times_out(void **state)
{
	struct run_limits limits = {.cpu_ms = 30};
	struct run_meter m;
	pid_t pid = start(true);
	struct run_end end;

	(void)state;
	run_meter_start(&m, &limits, false);
	end = end_of(&m, pid);
	assert_int_equal(end.how, RUN_TIMED_OUT);
	assert_true(end.cpu_us >= 30000);
}

/* A program without limits keeps running until run_meter_expire() ends it, first with SIGTERM. */
static void expired_programs_are_asked_first(void **state)
{
	struct run_limits limits = {.grace_ms = 60000};
	struct run_meter m;
	pid_t pid = start(false);
	struct run_end end;

	(void)state;
	run_meter_start(&m, &limits, false);
	run_meter_look(&m, pid);
	assert_false(m.ended);
	run_meter_expire(&m);
	end = end_of(&m, pid);
	assert_true(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGTERM);
	assert_true(end.how == RUN_STALLED || end.how == RUN_TIMED_OUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_have_names),
		cmocka_unit_test(our_reason_counts),
		cmocka_unit_test(a_sleeping_program_stalls),
		cmocka_unit_test(a_computing_program_times_out),
		cmocka_unit_test(expired_programs_are_asked_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
