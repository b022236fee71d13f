// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/process.h: argument vectors, how programs end, and which of their output is
 * captured. */
#include "base/process.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/context.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ARGV(...) ((char *const[]){__VA_ARGS__, NULL})

/* Runs `call`, and stores its error message in *message, which the caller frees. */
#define CATCH(message, result, call)                                                                         \
	do {                                                                                                 \
		struct rd_context quiet_ = {.log = rd_log_first, .data = (message)};                         \
		*(message) = NULL;                                                                           \
		rd_context_enter(&quiet_);                                                                   \
		result = call;                                                                               \
		rd_context_leave(&quiet_);                                                                   \
	} while (0)

static void test_argv(void **state)
{
	struct rd_argv a = RD_ARGV_INIT;
	char word[] = "word";

	(void)state;
	rd_argv_add(&a, word);
	word[0] = 'W'; /* the vector has a copy of the word */
	rd_argv_addf(&a, "--n=%d", 7);
	rd_argv_add_all(&a, ARGV("x", "", "y z"));
	for (int i = 0; i < 100; i++)
		rd_argv_addf(&a, "%d", i);
	assert_int_equal(a.count, 105);
	assert_null(a.items[105]);
	assert_string_equal(a.items[0], "word");
	assert_string_equal(a.items[1], "--n=7");
	assert_string_equal(a.items[3], "");
	assert_string_equal(a.items[4], "y z");
	assert_string_equal(a.items[104], "99");
	rd_argv_release(&a);
}

static void test_status(void **state)
{
	(void)state;
	assert_int_equal(rd_run(ARGV("true")), 0);
	assert_int_equal(rd_run(ARGV("false")), 1);
	assert_int_equal(rd_run(ARGV("sh", "-c", "exit 77")), 77);
	assert_int_equal(rd_run(ARGV("sh", "-c", "kill -9 $$")), 128 + SIGKILL);
	assert_int_equal(rd_run(ARGV("sh", "-c", "kill -TERM $$")), 128 + SIGTERM);
}

static void test_absent(void **state)
{
	struct rd_buf out = RD_BUF_INIT;
	char *message;
	int result;

	(void)state;
	CATCH(&message, result, rd_run(ARGV("no-such-program-at-all")));
	assert_int_equal(result, RD_ESYSTEM);
	assert_non_null(strstr(message, "cannot start no-such-program-at-all"));
	free(message);
	CATCH(&message, result, rd_run_capture(ARGV("no-such-program-at-all"), 100, &out));
	assert_int_equal(result, RD_ESYSTEM);
	assert_int_equal(out.length, 0);
	free(message);
	rd_buf_release(&out);
}

/* A deadline that has passed ends the program at once, however slow the machine is. 0 means no
 * deadline. */
static void test_until(void **state)
{
	(void)state;
	assert_int_equal(rd_run_until(ARGV("sleep", "100000"), rd_now_ns()), 128 + SIGTERM);
	assert_int_equal(rd_run_until(ARGV("sh", "-c", "exit 3"), rd_now_ns() + INT64_C(600000000000)), 3);
	assert_int_equal(rd_run_until(ARGV("sh", "-c", "exit 4"), 0), 4);
}

static void test_capture(void **state)
{
	struct rd_buf out = RD_BUF_INIT;

	(void)state;
	assert_int_equal(
		rd_run_capture(ARGV("sh", "-c", "echo one; echo two >&2; echo three; exit 5"), 1000, &out),
		5);
	assert_string_equal(out.data, "one\ntwo\nthree\n");
	/* Further output is appended. */
	assert_int_equal(rd_run_capture(ARGV("printf", "%s", "four"), 1000, &out), 0);
	assert_string_equal(out.data, "one\ntwo\nthree\nfour");
	rd_buf_release(&out);
}

/* The output is larger than a pipe, and consists of zero bytes. */
static void test_capture_much(void **state)
{
	struct rd_buf out = RD_BUF_INIT;

	(void)state;
	assert_int_equal(rd_run_capture(ARGV("head", "-c", "1000000", "/dev/zero"), 1000000, &out), 0);
	assert_int_equal(out.length, 1000000);
	for (size_t i = 0; i < out.length; i++)
		assert_int_equal(out.data[i], 0);
	rd_buf_release(&out);
}

/* A program that writes forever is ended, and the call fails. */
static void test_capture_limit(void **state)
{
	struct rd_buf out = RD_BUF_INIT;
	char *message;
	int result;

	(void)state;
	CATCH(&message, result, rd_run_capture(ARGV("yes"), 5000, &out));
	assert_int_equal(result, RD_ELIMIT);
	assert_string_equal(message, "yes: it writes more than 5000 bytes");
	free(message);
	rd_buf_release(&out);
}

static void test_spawn(void **state)
{
	struct rd_buf out = RD_BUF_INIT;
	int ends[2];
	char byte, *message;
	pid_t pid;
	int result;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(rd_spawn(ARGV("sh", "-c", "pwd; pwd >&2"), "/", ends[1], &pid), 0);
	close(ends[1]);
	while (read(ends[0], &byte, 1) == 1)
		rd_buf_addc(&out, byte);
	close(ends[0]);
	assert_int_equal(rd_wait(pid), 0);
	assert_string_equal(out.data, "/\n/\n");
	rd_buf_release(&out);
	CATCH(&message, result, rd_spawn(ARGV("true"), "/no/such/directory", -1, &pid));
	assert_int_equal(result, RD_ESYSTEM);
	assert_non_null(strstr(message, " in /no/such/directory"));
	free(message);
}

static void do_nothing(int number)
{
	(void)number;
}

/* The child sends signals that interrupt the wait for it, before it ends. */
static void test_reap(void **state)
{
	struct sigaction action = {.sa_handler = do_nothing}, before;
	int status = 77;
	pid_t pid;

	(void)state;
	sigaction(SIGUSR1, &action, &before);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 20; i++)
			kill(getppid(), SIGUSR1);
		_exit(3);
	}
	assert_true(rd_reap(pid, &status));
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	status = 77;
	assert_false(rd_reap(pid, &status)); /* it was reaped already */
	assert_int_equal(status, 77);
	sigaction(SIGUSR1, &before, NULL);
}

static void test_shell(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		rd_become_shell("x=4; exit $((x + 1))");
	assert_true(rd_reap(pid, &status));
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reap),	      cmocka_unit_test(test_shell),
		cmocka_unit_test(test_argv),	      cmocka_unit_test(test_status),
		cmocka_unit_test(test_absent),	      cmocka_unit_test(test_until),
		cmocka_unit_test(test_capture),	      cmocka_unit_test(test_capture_much),
		cmocka_unit_test(test_capture_limit), cmocka_unit_test(test_spawn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
