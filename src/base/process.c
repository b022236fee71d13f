// SPDX-License-Identifier: Apache-2.0
/*
 * Runs other programs.  In: argument vectors.  Out: exit statuses and captured output.  Uses
 * posix_spawn() rather than fork(), because it returns an error if the program cannot be executed,
 * and does not copy the page tables of a large tool.
 */
#include "base/process.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/option.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Adds `s`, which the vector then owns. */
static void push(struct rd_argv *a, char *s)
{
	RD_GROW(a->items, a->capacity, a->count + 2);
	a->items[a->count++] = s;
	a->items[a->count] = NULL;
}

void rd_argv_add(struct rd_argv *a, const char *s)
{
	push(a, rd_xstrdup(s));
}

void rd_argv_addf(struct rd_argv *a, const char *format, ...)
{
	struct rd_buf b = RD_BUF_INIT;
	va_list ap;

	va_start(ap, format);
	rd_buf_vaddf(&b, format, ap);
	va_end(ap);
	push(a, rd_buf_detach(&b));
}

void rd_argv_add_text(struct rd_argv *a, const char *name, const char *value)
{
	if (value)
		rd_argv_addf(a, "--%s=%s", name, value);
}

void rd_argv_add_number(struct rd_argv *a, const char *name, uint64_t value, const char *unit)
{
	if (value && value != RD_OPTION_UNSET)
		rd_argv_addf(a, "--%s=%" PRIu64 "%s", name, value, unit);
}

void rd_argv_add_limit(struct rd_argv *a, const char *name, uint64_t ms)
{
	if (ms != RD_OPTION_UNSET)
		rd_argv_addf(a, "--%s=%" PRIu64 "ms", name, ms);
}

void rd_argv_add_flag(struct rd_argv *a, const char *name, bool set)
{
	if (set)
		rd_argv_addf(a, "--%s", name);
}

void rd_argv_add_all(struct rd_argv *a, char *const *items)
{
	for (; *items; items++)
		rd_argv_add(a, *items);
}

void rd_argv_release(struct rd_argv *a)
{
	RD_FREE_EACH(a->items, a->count);
	free(a->items);
	*a = (struct rd_argv)RD_ARGV_INIT;
}

/* Starts a program.  Returns an errno value, as posix_spawn() does. */
static int spawn_with(posix_spawn_file_actions_t *actions, char *const *argv, const char *directory,
		      int output, pid_t *pid)
{
	int error = 0;

	if (output != -1)
		error = posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
	if (!error && output != -1)
		error = posix_spawn_file_actions_adddup2(actions, output, STDERR_FILENO);
	if (!error && directory)
		error = posix_spawn_file_actions_addchdir_np(actions, directory);
	if (!error)
		error = posix_spawnp(pid, argv[0], actions, NULL, argv, environ);
	return error;
}

int rd_spawn(char *const *argv, const char *directory, int output, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (!error) {
		error = spawn_with(&actions, argv, directory, output, pid);
		posix_spawn_file_actions_destroy(&actions);
	}
	if (error) {
		errno = error;
		if (directory)
			return rd_fail_errno("cannot start %s in %s", argv[0], directory);
		return rd_fail_errno("cannot start %s", argv[0]);
	}
	return 0;
}

bool rd_reap(pid_t pid, int *status)
{
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return false;
	return true;
}

_Noreturn void rd_become_shell(const char *command)
{
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

void rd_leave_streams(void)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && null >= 0; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
}

int rd_wait(pid_t pid)
{
	int status;

	if (!rd_reap(pid, &status))
		return rd_fail_errno("cannot wait for process %d", (int)pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Returns true if the process has ended.  Does not reap the process, so that rd_wait() can. */
static bool has_ended(pid_t pid)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == pid;
}

int rd_run_until(char *const *argv, int64_t end_ns)
{
	struct timespec step = {.tv_nsec = 10000000};
	pid_t pid;
	int err;

	/* Earlier output of this process must precede that of the child. */
	fflush(stdout);
	err = rd_spawn(argv, NULL, -1, &pid);
	if (err)
		return err;
	while (end_ns && !has_ended(pid)) {
		if (rd_now_ns() >= end_ns) {
			kill(pid, SIGTERM);
			break;
		}
		nanosleep(&step, NULL);
	}
	return rd_wait(pid);
}

int rd_run(char *const *argv)
{
	return rd_run_until(argv, 0);
}

/* Reads to the end.  Fails with EFBIG if there are more than `max` bytes. */
static int read_all(int fd, uint64_t max, struct rd_buf *output)
{
	for (size_t start = output->length;;) {
		ssize_t n;

		rd_buf_reserve(output, 16 * 1024);
		n = read(fd, output->data + output->length, 16 * 1024);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			output->data[output->length] = '\0';
			return n < 0 ? -1 : 0;
		}
		output->length += (size_t)n;
		output->data[output->length] = '\0';
		if (output->length - start > max) {
			errno = EFBIG;
			return -1;
		}
	}
}

int rd_run_capture(char *const *argv, uint64_t max, struct rd_buf *output)
{
	int fds[2], err, status;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return rd_fail_errno("%s: cannot create a pipe for its output", argv[0]);
	err = rd_spawn(argv, NULL, fds[1], &pid);
	close(fds[1]);
	if (err) {
		close(fds[0]);
		return err;
	}
	if (read_all(fds[0], max, output)) {
		err = errno == EFBIG
			      ? rd_fail(RD_ELIMIT, "%s: it writes more than %" PRIu64 " bytes", argv[0], max)
			      : rd_fail_errno("%s: cannot read its output", argv[0]);
		kill(pid, SIGKILL);
	}
	close(fds[0]);
	status = rd_wait(pid);
	return err ? err : status;
}
