// SPDX-License-Identifier: Apache-2.0
/*
 * Passes signals on.  The handler uses nothing but the process ID and a counter.  A signal that
 * came from the program itself is not sent back to it.
 */
#include "run/forward.h"

#include "base/error.h"

#include <errno.h>
#include <signal.h>

static const int numbers[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGQUIT};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static struct {
	volatile sig_atomic_t pid, asked;
	bool installed;
	struct sigaction before[NUMBERS];
} forward;

static void pass_on(int signal, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	if (signal != SIGUSR1 && signal != SIGUSR2)
		forward.asked = forward.asked + 1;
	if (info->si_code <= 0 && forward.pid && info->si_pid != forward.pid)
		kill(forward.pid, signal);
	errno = saved;
}

void run_forward_start(pid_t pid, bool keep_ignored)
{
	struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};

	RD_ASSERT(pid > 0 && !forward.pid);
	forward.pid = pid;
	forward.asked = 0;
	for (size_t i = 0; i < NUMBERS; i++) {
		if (!forward.installed)
			sigaction(numbers[i], NULL, &forward.before[i]);
		if (!keep_ignored || forward.before[i].sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
	forward.installed = true;
}

void run_forward_gone(void)
{
	forward.pid = 0;
}

void run_forward_stop(void)
{
	forward.pid = 0;
	for (size_t i = 0; forward.installed && i < NUMBERS; i++)
		sigaction(numbers[i], &forward.before[i], NULL);
	forward.installed = false;
}

int run_forward_asked(void)
{
	return forward.asked;
}
