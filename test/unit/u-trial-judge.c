// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of trial/judge.h: what is passed to the user's command, what its status means, and
 * that runs with the same end are judged only once.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "trial/judge.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char directory[] = "/tmp/raddle-judge-XXXXXX";

static struct trial run(int status, const char *out, const char *errors)
{
	struct trial t = {.counts = true, .end = REPLAY_EXITED, .status = status};

	t.text[0] = (struct trial_text){out, strlen(out)};
	t.text[1] = (struct trial_text){errors, strlen(errors)};
	t.text[2] = (struct trial_text){"", 0};
	trial_digest(&t, &(struct trial_mask){0});
	return t;
}

static int judge(const char *command, const struct trial *t, bool *failed)
{
	struct judge j = {.command = command};
	int err = judge_run(&j, t, failed);

	judge_release(&j);
	return err;
}

/* If the command exits with 0, the run failed; if it exits with 1, it passed.  The command gets
 * output, errors and status. */
static void test_command(void **state)
{
	static const struct {
		const char *command;
		bool failed;
	} rows[] = {{"true", true},
		    {"false", false},
		    {"grep -q out", true},
		    {"grep -q err", false},
		    {"grep -q err <&3", true},
		    {"grep -q out <&3", false},
		    {"test $RADDLE_STATUS = 3", true},
		    {"test $RADDLE_STATUS = 0", false}};
	struct trial t = run(3, "out\n", "err\n");
	bool failed;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(judge(rows[i].command, &t, &failed), RD_OK);
		if (failed != rows[i].failed)
			fail_msg("%s: %d", rows[i].command, failed);
	}
}

/* As in a shell, the status of a signal is 128 plus its number. */
static void test_signal(void **state)
{
	struct trial t = run(SIGSEGV, "", "");
	bool failed;

	(void)state;
	t.end = REPLAY_SIGNALLED;
	assert_int_equal(judge("test $RADDLE_STATUS = 139", &t, &failed), RD_OK);
	assert_true(failed);
}

/* A command that ends in any other way has not judged the run. */
static void test_errors(void **state)
{
	static const char *const commands[] = {"exit 2", "exit 127", "kill -9 $$",
					       "no-such-command-of-raddle"};
	struct trial t = run(0, "", "");
	bool failed;

	(void)state;
	rd_log_set(rd_log_discard, NULL);
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		assert_int_equal(judge(commands[i], &t, &failed), RD_EUSAGE);
	rd_log_set(NULL, NULL);
}

static size_t lines_of(const char *path)
{
	struct rd_buf text = RD_BUF_INIT;
	size_t n = 0;

	if (rd_file_exists(path))
		assert_int_equal(rd_file_read(path, &text), RD_OK);
	for (size_t i = 0; i < text.length; i++)
		n += text.data[i] == '\n';
	rd_buf_release(&text);
	return n;
}

/* Of many runs, each kind is judged once, and all runs of a kind get the same verdict. */
static void test_once(void **state)
{
	char *log = rd_xasprintf("%s/log", directory),
	     *command = rd_xasprintf("echo x >> %s; grep -q 1 || test $RADDLE_STATUS = 2", log);
	struct judge j = {.command = command};

	(void)state;
	for (int round = 0; round < 30; round++) {
		int status = round % 3;
		const char *out = round % 2 ? "1\n" : "0\n";
		struct trial t = run(status, out, "");
		bool failed;

		assert_int_equal(judge_run(&j, &t, &failed), RD_OK);
		assert_int_equal(failed, round % 2 || status == 2);
	}
	assert_int_equal(lines_of(log), 6);
	judge_release(&j);
	free(command);
	free(log);
}

/* If a run could not be judged, the command is run again the next time. */
static void test_again(void **state)
{
	char *flag = rd_xasprintf("%s/flag", directory),
	     *command = rd_xasprintf("test -e %s || { touch %s; exit 9; }", flag, flag);
	struct judge j = {.command = command};
	struct trial t = run(0, "", "");
	bool failed;

	(void)state;
	rd_log_set(rd_log_discard, NULL);
	assert_int_equal(judge_run(&j, &t, &failed), RD_EUSAGE);
	rd_log_set(NULL, NULL);
	assert_int_equal(judge_run(&j, &t, &failed), RD_OK);
	assert_true(failed);
	judge_release(&j);
	free(command);
	free(flag);
}

static int start(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	rd_remove_tree(directory);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command), cmocka_unit_test(test_signal), cmocka_unit_test(test_errors),
		cmocka_unit_test(test_once),	cmocka_unit_test(test_again),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
