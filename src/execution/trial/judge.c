// SPDX-License-Identifier: Apache-2.0
/*
 * Judging runs by a command.  In: how a run ended and what it wrote.  Out: whether the user
 * considers the run a failure.
 *
 * Runs that ended in the same way and wrote the same output are judged only once, because even
 * thousands of runs have few different outputs.
 */
#include "trial/judge.h"

#include "base/error.h"
#include "base/file.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ERRORS_FD 3 /* descriptor on which the command reads the program's standard error */

/* Returns the descriptor of a file with this text, positioned at its start, or -1 on failure. */
static int file_of(const struct trial_text *text)
{
	int fd = memfd_create("raddle-judge", MFD_CLOEXEC);

	if (fd >= 0 && (rd_write_all(fd, text->data, text->length) || lseek(fd, 0, SEEK_SET))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Runs the command in this process.  The output of the command goes to standard error, like
 * Raddle's messages. */
static _Noreturn void become_command(const char *command, const struct trial *t, const int *files)
{
	char status[16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(status, sizeof status, "%d", t->end == REPLAY_SIGNALLED ? 128 + t->status : t->status);
	setenv("RADDLE_STATUS", status, 1);
	dup2(files[0], STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	/* if files[1] is ERRORS_FD already, dup2() keeps its close-on-exec flag */
	fcntl(files[1], F_SETFD, 0);
	if (dup2(files[1], ERRORS_FD) == ERRORS_FD)
		rd_become_shell(command);
	_exit(126);
}

/* Returns the command's status from waitpid(), or -1 if it could not be run. */
static int ask(const char *command, const struct trial *t)
{
	int files[2] = {file_of(&t->text[0]), file_of(&t->text[1])}, status = -1;
	pid_t pid = files[0] >= 0 && files[1] >= 0 ? fork() : -1;

	if (pid == 0)
		become_command(command, t, files);
	if (pid > 0)
		rd_reap(pid, &status);
	for (int i = 0; i < 2; i++)
		if (files[i] >= 0)
			close(files[i]);
	return status;
}

int judge_run(struct judge *j, const struct trial *t, bool *failed)
{
	bool fresh;
	uint64_t *known = rd_umap_put(&j->failed, t->digest, &fresh);
	int status;

	RD_ASSERT(j->command);
	*failed = !fresh && *known == 2;
	if (!fresh && *known)
		return RD_OK;
	status = ask(j->command, t);
	if (status < 0)
		return rd_fail(RD_ESYSTEM, "the command of --fail-if could not be run");
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
		return rd_fail(RD_EUSAGE,
			       "the command of --fail-if %s %d, but must end with 0 (the run failed) or 1: "
			       "%s",
			       WIFEXITED(status) ? "ended with status" : "was ended by signal",
			       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), j->command);
	*failed = WEXITSTATUS(status) == 0;
	*known = 1 + *failed;
	return RD_OK;
}

void judge_release(struct judge *j)
{
	rd_umap_release(&j->failed);
}
