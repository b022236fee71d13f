// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of how recorded runs end (check/ending.h): the description of each end, after which
 * ends there can be no check, and after which a check that confirms nothing must not look like
 * "nothing found".
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/error.h"
#include "check/ending.h"

#include <signal.h>
#include <string.h>

#define EXITED(status) ((status) << 8)

static const struct {
	const char *name;
	struct check_ending ending;
	const char *words; /* part of the description */
	const char *doubt; /* part of why "nothing found" is not a result; NULL: it is one */
	int status;
} cases[] = {
	{"an ordinary end",
	 {.end = {.how = RUN_EXITED, .status = EXITED(0)}, .events = 9},
	 "ended with status 0",
	 NULL,
	 0},
	{"a failure of the program's own",
	 {.end = {.how = RUN_EXITED, .status = EXITED(3)}, .events = 9},
	 "status 3",
	 NULL,
	 3},
	{"a user who ends it",
	 {.end = {.how = RUN_SIGNALLED, .status = SIGINT}, .events = 9},
	 "signal 2",
	 NULL,
	 130},
	{"a broken pipe",
	 {.end = {.how = RUN_SIGNALLED, .status = SIGPIPE}, .events = 9},
	 "signal 13",
	 NULL,
	 141},
	{"kill -9",
	 {.end = {.how = RUN_SIGNALLED, .status = SIGKILL}, .events = 9},
	 "signal 9",
	 "the recorded run was ended",
	 137},
	{"no memory",
	 {.end = {.how = RUN_OUT_OF_MEMORY, .status = SIGKILL}, .events = 9},
	 "memory ran out",
	 "memory ran out",
	 137},
	{"a crash, which is a finding",
	 {.end = {.how = RUN_SIGNALLED, .status = SIGSEGV}, .events = 9},
	 "signal 11",
	 NULL,
	 139},
	{"a deadlock",
	 {.end = {.how = RUN_STALLED, .status = SIGKILL}, .deadlocked = true, .events = 9},
	 "was deadlocked",
	 NULL,
	 137},
	{"a server whose time was up",
	 {.end = {.how = RUN_STALLED, .status = SIGTERM}, .events = 9, .limit_ms = 5000},
	 "its time was up",
	 NULL,
	 143},
	{"the same, with a limit of ours",
	 {.end = {.how = RUN_STALLED, .status = SIGTERM}, .events = 9, .limit_ms = 5000, .unasked = true},
	 "its time was up",
	 "after 5 s",
	 143},
	{"still at work",
	 {.end = {.how = RUN_TIMED_OUT, .status = SIGTERM}, .events = 9},
	 "its time was up",
	 "still working",
	 143},
	{"it spins, and records all of it",
	 {.end = {.how = RUN_TIMED_OUT, .status = SIGTERM}, .events = 7000000, .full = true},
	 "its trace was full",
	 "after 7 million events",
	 143},
	{"it spins, and records nothing",
	 {.end = {.how = RUN_TIMED_OUT, .status = SIGTERM}, .events = 9, .quiet = true},
	 "recorded nothing for long",
	 "recorded nothing for a quarter",
	 143},
	{"recording stopped",
	 {.end = {.how = RUN_EXITED, .status = EXITED(0)},
	  .events = 9,
	  .stopped = (char[]){"the disk is full"}},
	 "status 0",
	 "the disk is full",
	 0},
	{"a user who wants no more",
	 {.end = {.how = RUN_INTERRUPTED, .status = SIGKILL}, .events = 9},
	 "signal 9",
	 NULL,
	 137},
};

static void test_ends(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct rd_buf words = RD_BUF_INIT, why = RD_BUF_INIT;
		bool doubt = check_ending_doubt(&cases[i].ending, false, &why);

		check_ending_words(&cases[i].ending, &words);
		if (!strstr(words.data, cases[i].words) || doubt != (cases[i].doubt != NULL) ||
		    (doubt && !strstr(why.data, cases[i].doubt)))
			fail_msg("%s: '%s', '%s'", cases[i].name, words.data, why.data);
		assert_int_equal(check_ending_status(&cases[i].ending), cases[i].status);
		rd_buf_release(&words);
		rd_buf_release(&why);
	}
}

/* A crash before the program did anything is not a finding, and the check has no result. */
static void test_a_crash_at_the_start(void **state)
{
	struct check_ending e = {.end = {.how = RUN_SIGNALLED, .status = SIGSEGV}, .events = 9};
	struct rd_buf why = RD_BUF_INIT;

	(void)state;
	assert_false(check_ending_doubt(&e, false, &why));
	assert_true(check_ending_doubt(&e, true, &why));
	assert_non_null(strstr(why.data, "at its start"));
	rd_buf_release(&why);
}

static void test_late_and_busy(void **state)
{
	struct check_ending e = {.end = {.how = RUN_TIMED_OUT, .status = SIGTERM}};

	(void)state;
	assert_true(check_ending_late(&e) && check_ending_busy(&e));
	e.deadlocked = true;
	assert_true(check_ending_late(&e) && !check_ending_busy(&e));
	e = (struct check_ending){.end = {.how = RUN_STALLED, .status = SIGTERM}};
	/* as a server that waits for clients */
	assert_true(check_ending_late(&e) && !check_ending_busy(&e));
	e = (struct check_ending){.end = {.how = RUN_EXITED, .status = 0}};
	assert_false(check_ending_late(&e) || check_ending_busy(&e));
}

/* If the program never ran, or if its client failed, there can be no check. */
static void test_no_ground(void **state)
{
	struct check_ending e = {.end = {.how = RUN_EXITED, .status = EXITED(127)}};

	(void)state;
	rd_log_set(rd_log_discard, NULL);
	assert_int_equal(check_ending_check(&e, "prog", NULL), RD_ESYSTEM);
	e.events = 1;
	assert_int_equal(check_ending_check(&e, "prog", NULL), RD_OK);
	e.companion = EXITED(1);
	assert_int_equal(check_ending_check(&e, "prog", "client"), RD_ESYSTEM);
	/* the crash explains why the client failed */
	e.end = (struct run_end){.how = RUN_SIGNALLED, .status = SIGSEGV};
	assert_int_equal(check_ending_check(&e, "prog", "client"), RD_OK);
	e.end.status = SIGTERM; /* ended because its client failed, before it did anything */
	e.events = 0;
	assert_int_equal(check_ending_check(&e, "prog", "client"), RD_ESYSTEM);
	e.deadlocked = true;
	e.events = 1;
	assert_int_equal(check_ending_check(&e, "prog", "client"), RD_OK);
	rd_log_set(NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_a_crash_at_the_start),
		cmocka_unit_test(test_late_and_busy),
		cmocka_unit_test(test_no_ground),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
