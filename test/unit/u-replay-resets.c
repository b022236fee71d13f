// SPDX-License-Identifier: Apache-2.0
/*
 * Copies that make several runs (rt/steer/reset.c).  For each kind of change that test/prog/explore/
 * resets.c makes, runs of one copy are compared with runs from the start.
 */
#include "led-program.h"
#include "replay/replay.h"
#include "replay/snapshot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RUNS = 8 };

static struct led_program led;

static int build(void **state)
{
	(void)state;
	return build_led(&led, "resets", "explore/resets.c");
}

struct end {
	enum replay_end end;
	int status;
	uint64_t trail;
	off_t written;
	bool unsure; /* real time influenced the run */
};

/* Makes a run; with a snapshot, in a copy. */
static struct end run(const char *mode, uint64_t seed, struct replay_snapshot *snapshot)
{
	char *argv[] = {"./resets", (char *)mode, NULL};
	const struct replay_program p = {&led.program, led.sites, argv};
	const int streams[] = {STDIN_FILENO, led.output, led.output};
	struct schedule s;
	struct replay_request request = {
		.program = &p, .schedule = &s, .streams = streams, .one = true, .snapshot = snapshot};
	struct replay_result result = {0};
	struct end end;

	schedule_init(&s);
	s.turns = true;
	s.flavour = "led";
	s.seed = seed;
	assert_int_equal(ftruncate(led.output, 0), 0);
	assert_int_equal(lseek(led.output, 0, SEEK_SET), 0);
	assert_int_equal(replay_run(&request, &result), RD_OK);
	end = (struct end){result.end, result.status, result.turns.trail, lseek(led.output, 0, SEEK_END),
			   result.turns.unsure != 0};
	replay_result_release(&result);
	schedule_release(&s);
	return end;
}

/* Runs the program several times in copies of one snapshot.  Returns how many of the runs were made by a
 * copy that had made a run before. */
static unsigned runs_again(const char *mode, struct replay_snapshot *s)
{
	unsigned again = 0;

	*s = (struct replay_snapshot){.freeze = RADDLE_FREEZE_CREATION, .ahead = 3, .resets = true};
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		pid_t before = s->copy;
		struct end copied = run(mode, seed, s), anew = run(mode, seed, NULL);

		if (copied.end != anew.end || copied.status != anew.status ||
		    copied.written != anew.written ||
		    (!copied.unsure && !anew.unsure && copied.trail != anew.trail))
			fail_msg("%s: seed %d: a copy behaves differently", mode, (int)seed);
		assert_true(s->pid != 0);
		again += before && s->runs;
	}
	return again;
}

/* After these changes, a copy can make another run. */
static void restored(void **state)
{
	static const char *const modes[] = {"data", "map",   "advice",	 "break", "heap",
					    "exit", "quick", "deadlock", "grow"};
	struct replay_snapshot s;

	(void)state;
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		unsigned again = runs_again(modes[i], &s);

		if (again < RUNS - 1 || s.why_single)
			fail_msg("%s: only %u runs in a copy that had made one", modes[i], again);
		replay_snapshot_close(&s);
	}
}

/* After these changes, the process of the copy ends. */
static void lasting(void **state)
{
	static const char *const modes[] = {"descriptor", "pipe",  "stream", "directory",
					    "umask",	  "fixed", "unmap",  "protection",
					    "handler",	  "limit", "timer",  "file"};
	struct replay_snapshot s;

	(void)state;
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		if (runs_again(modes[i], &s) || !s.why_single)
			fail_msg("%s: a copy has made a second run", modes[i]);
		replay_snapshot_close(&s);
	}
}

/* Runs that create processes, or more threads than were made in advance, are repeated. */
static void repeated(void **state)
{
	static const char *const modes[] = {"fork", "system", "create"};
	struct replay_snapshot s;

	(void)state;
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		runs_again(modes[i], &s);
		if (!s.repeated)
			fail_msg("%s: no run was repeated", modes[i]);
		replay_snapshot_close(&s);
	}
}

/* A run that a signal ends is the last one of its process. */
static void aborted(void **state)
{
	struct replay_snapshot s;
	unsigned again = runs_again("abort", &s);

	(void)state;
	assert_in_range(again, 1, RUNS - 2);
	replay_snapshot_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(restored),
		cmocka_unit_test(lasting),
		cmocka_unit_test(repeated),
		cmocka_unit_test(aborted),
	};

	return cmocka_run_group_tests(tests, build, NULL);
}
