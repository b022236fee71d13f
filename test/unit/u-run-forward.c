// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the forwarding of signals.  Those sent to Raddle reach the program, others do not,
 * and afterwards all handlers are restored. */
#include "base/process.h"
#include "run/forward.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Starts a child that waits until a signal ends it.  If `signal_to_us` is not 0, the child first
 * sends us that signal. */
static pid_t start_child(int signal_to_us)
{
	pid_t pid = fork();

	if (pid == 0) {
		alarm(60); /* in case no signal comes */
		if (signal_to_us)
			kill(getppid(), signal_to_us);
		for (;;)
			pause();
	}
	return pid;
}

static int end_of(pid_t pid)
{
	int status = 0;

	assert_true(rd_reap(pid, &status));
	assert_true(WIFSIGNALED(status));
	return WTERMSIG(status);
}

static void test_passed(void **state)
{
	static const int numbers[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT};

	(void)state;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		pid_t pid = start_child(0);

		run_forward_start(pid, false);
		assert_int_equal(run_forward_asked(), 0);
		kill(getpid(), numbers[i]);
		assert_int_equal(end_of(pid), numbers[i]);
		assert_int_equal(run_forward_asked(), numbers[i] != SIGUSR1 && numbers[i] != SIGUSR2);
		run_forward_stop();
	}
}

/* A signal from the program is not sent back to it.  When the program is gone, signals are only
 * counted. */
static void test_not_passed(void **state)
{
	sigset_t one, before;
	pid_t pid;

	(void)state;
	sigemptyset(&one);
	sigaddset(&one, SIGTERM);
	sigprocmask(SIG_BLOCK, &one, &before);
	pid = start_child(SIGTERM);
	run_forward_start(pid, false);
	while (!run_forward_asked())
		sigsuspend(&before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	run_forward_gone();
	kill(getpid(), SIGINT);
	assert_int_equal(run_forward_asked(), 2);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0); /* it has received neither signal */
	kill(pid, SIGKILL);
	assert_int_equal(end_of(pid), SIGKILL);
	run_forward_stop();
}

static void nothing(int number)
{
	(void)number;
}

static void test_restored(void **state)
{
	struct sigaction now;
	pid_t pid = start_child(0);

	(void)state;
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, nothing);
	run_forward_start(pid, true);
	sigaction(SIGHUP, NULL, &now);
	assert_true(now.sa_handler == SIG_IGN);
	sigaction(SIGTERM, NULL, &now);
	assert_false(now.sa_handler == nothing);
	run_forward_stop();
	run_forward_stop();
	sigaction(SIGTERM, NULL, &now);
	assert_true(now.sa_handler == nothing);
	kill(pid, SIGKILL);
	end_of(pid);
	signal(SIGHUP, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passed),
		cmocka_unit_test(test_not_passed),
		cmocka_unit_test(test_restored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
