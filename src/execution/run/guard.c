// SPDX-License-Identifier: Apache-2.0
/*
 * The guard and its worker.  Both adopt orphans (run/orphan.h).  If the worker dies, its
 * descendants become the guard's children.  If the guard dies, the kernel sends the worker a
 * signal, and its handler kills all children of the worker.  The handler may interrupt any code,
 * so it uses only system calls.
 */
#include "run/guard.h"

#include "base/error.h"
#include "base/process.h"
#include "run/forward.h"
#include "run/orphan.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void guard_died(int signal)
{
	(void)signal;
	run_orphans_end(NULL, 0);
	_exit(128 + SIGKILL);
}

static int death_signal(void)
{
	return SIGRTMAX - 3; /* a signal that nothing else uses */
}

static void begin_work(pid_t guard, const sigset_t *mask)
{
	struct sigaction action = {.sa_handler = guard_died};
	sigset_t only;

	sigfillset(&action.sa_mask);
	sigaction(death_signal(), &action, NULL);
	prctl(PR_SET_PDEATHSIG, death_signal());
	sigprocmask(SIG_SETMASK, mask, NULL);
	sigemptyset(&only);
	sigaddset(&only, death_signal());
	sigprocmask(SIG_UNBLOCK, &only, NULL);
	if (getppid() != guard)
		_exit(128 + SIGKILL);
	run_orphans_adopt();
}

static int watch(pid_t pid, const sigset_t *mask)
{
	int status = 0;

	run_forward_start(pid, true);
	sigprocmask(SIG_SETMASK, mask, NULL);
	rd_reap(pid, &status);
	run_forward_gone();
	run_orphans_end(NULL, 0);
	return status;
}

bool run_guard(int *status)
{
	pid_t self = getpid(), pid;
	sigset_t all, mask;

	run_orphans_adopt();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	pid = fork();
	if (pid > 0) {
		*status = watch(pid, &mask);
		return true;
	}
	if (pid == 0)
		begin_work(self, &mask);
	else
		sigprocmask(SIG_SETMASK, &mask, NULL); /* fork() failed: there is no guard */
	return false;
}
