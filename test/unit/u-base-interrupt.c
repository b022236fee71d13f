// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/interrupt.h: signals are blocked, reported once, and unblocked at the end. */
#include "base/interrupt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void test_kept_back(void **state)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct rd_interrupt i;

	(void)state;
	rd_interrupt_begin(&i);
	assert_int_equal(rd_interrupt_wait(&i, 0), 0);
	for (size_t n = 0; n < sizeof signals / sizeof *signals; n++) {
		raise(signals[n]); /* would end the test if it were not blocked */
		assert_int_equal(rd_interrupt_wait(&i, 0), signals[n]);
		assert_int_equal(rd_interrupt_wait(&i, 0), 0);
	}
	rd_interrupt_end(&i);
}

static void test_waits(void **state)
{
	struct rd_interrupt i;
	pid_t parent = getpid(), child;

	(void)state;
	rd_interrupt_begin(&i);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		kill(parent, SIGTERM);
		_exit(0);
	}
	/* The signal may take long to arrive.  The limit only ends a test that hangs. */
	assert_int_equal(rd_interrupt_wait(&i, 600000), SIGTERM);
	assert_int_equal(waitpid(child, NULL, 0), child);
	rd_interrupt_end(&i);
}

/* Afterwards the signals that were blocked before are blocked, and no others. */
static void test_as_before(void **state)
{
	struct rd_interrupt i;
	sigset_t hup, now;

	(void)state;
	sigemptyset(&hup);
	sigaddset(&hup, SIGHUP);
	assert_int_equal(sigprocmask(SIG_BLOCK, &hup, NULL), 0);
	rd_interrupt_begin(&i);
	assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &now), 0);
	assert_true(sigismember(&now, SIGINT) && sigismember(&now, SIGTERM) && sigismember(&now, SIGHUP));
	assert_false(sigismember(&now, SIGQUIT));
	rd_interrupt_end(&i);
	assert_int_equal(sigprocmask(SIG_UNBLOCK, &hup, &now), 0);
	assert_true(sigismember(&now, SIGHUP));
	assert_false(sigismember(&now, SIGINT) || sigismember(&now, SIGTERM));
}

/* A forked child that calls rd_interrupt_end() is ended by the signal as usual. */
static void test_child(void **state)
{
	struct rd_interrupt i;
	int status;
	pid_t child;

	(void)state;
	rd_interrupt_begin(&i);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		raise(SIGTERM);
		rd_interrupt_end(&i);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	rd_interrupt_end(&i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept_back),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_as_before),
		cmocka_unit_test(test_child),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
