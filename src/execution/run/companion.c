// SPDX-License-Identifier: Apache-2.0
/*
 * Commands that a program needs for its work.  The setup command runs before each run, to prepare
 * files.  The companion, such as the client of a server, runs at the same time as the program.  A
 * guard process watches the companion.  The guard and the companion have a process group of their
 * own, so that they can be killed together.
 */
#include "run/companion.h"

#include "base/error.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNS (-1) /* the command is still running; not a valid wait status */
/* When the companion ends, the program receives SIGTERM.  If it is still running after this many
 * seconds, it receives SIGKILL.  This limits how long a replay waits. */
#define PATIENCE_S 5
#define LOOK_MS 5 /* milliseconds between two checks whether the command has ended */

struct run_companion_end {
	_Atomic int status; /* wait status, or RUNS */
	atomic_bool over;   /* the program has ended, so its process id may be reused */
};

static _Noreturn void run_command(const char *command, int output)
{
	int null = open("/dev/null", O_RDONLY);

	/* If the replay is killed, the kernel kills only the guard.  The command must then die
	 * too. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(null, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	rd_become_shell(command);
}

static void end_program(const struct run_companion *c, pid_t program, int signal)
{
	if (!c->end || !atomic_load(&c->end->over))
		kill(program, signal);
}

static _Noreturn void guard(const struct run_companion *c, pid_t program, int output)
{
	int status = 0;
	sigset_t none;
	pid_t pid;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	pid = fork();
	if (pid == 0)
		run_command(c->command, output);
	rd_reap(pid, &status);
	if (c->end)
		atomic_store(&c->end->status, status);
	end_program(c, program, SIGTERM);
	sleep(PATIENCE_S);
	end_program(c, program, SIGKILL);
	_exit(0);
}

void run_companion_start(struct run_companion *c, pid_t program, int output)
{
	RD_ASSERT(!c->command || program > 1);
	if (!c->command || c->guard)
		return;
	c->end = mmap(NULL, sizeof *c->end, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->end == MAP_FAILED)
		c->end = NULL;
	else
		atomic_store(&c->end->status, RUNS);
	c->guard = fork();
	if (c->guard == 0)
		guard(c, program, output);
	if (c->guard > 0)
		setpgid(c->guard, c->guard);
	else
		c->guard = 0;
}

bool run_companion_runs(const struct run_companion *c)
{
	return c->end && atomic_load(&c->end->status) == RUNS;
}

void run_companion_wait(struct run_companion *c, int ms)
{
	RD_ASSERT(!c->end || c->guard > 0);
	if (c->end)
		atomic_store(&c->end->over, true);
	for (; ms > 0 && run_companion_runs(c); ms -= LOOK_MS)
		poll(NULL, 0, LOOK_MS);
}

int run_companion_stop(struct run_companion *c)
{
	int status = 0;

	if (!c->guard)
		return 0;
	kill(-c->guard, SIGKILL);
	rd_reap(c->guard, NULL);
	c->guard = 0;
	if (c->end) {
		status = run_companion_runs(c) ? 0 : atomic_load(&c->end->status);
		munmap(c->end, sizeof *c->end);
		c->end = NULL;
	}
	return status;
}

int run_setup(const char *command, int output)
{
	pid_t pid = command ? fork() : 0;
	int status = 0;

	if (!command)
		return 0;
	if (pid < 0)
		return rd_fail_errno("the command of --setup cannot be started");
	if (pid == 0)
		run_command(command, output);
	rd_reap(pid, &status);
	if (!status)
		return 0;
	return rd_fail(RD_ESYSTEM, "the command of --setup %s %d: %s",
		       WIFSIGNALED(status) ? "was ended by signal" : "ended with status",
		       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), command);
}
