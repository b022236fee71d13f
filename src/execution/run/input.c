// SPDX-License-Identifier: Apache-2.0
/*
 * The standard input of a program that is run repeatedly.  Each run gets the same bytes.  A
 * regular file or a device is reopened.  A pipe can be read only once, so a process of ours copies
 * it both to the first run and to a file.  It would be wrong to copy the whole pipe before the
 * start, because that could block forever if the writer never closes it.  If the input is a
 * terminal, only the first run gets it.
 */
#include "run/input.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Copies until the input ends or the reader closes its end.  Any further input stays unread. */
static _Noreturn void pump(int to, int copy)
{
	char bytes[65536];
	ssize_t n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	while ((n = read(STDIN_FILENO, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR))
		if (n > 0 && (rd_write_all(copy, bytes, (size_t)n) || rd_write_all(to, bytes, (size_t)n)))
			break;
	_exit(0);
}

static int start_pump(struct run_input *in, const char *spool)
{
	int ends[2], copy = open(spool, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (copy < 0)
		return rd_fail_errno("cannot write %s", spool);
	if (pipe2(ends, O_CLOEXEC)) {
		rd_fail_errno("cannot create a pipe");
		close(copy);
		return RD_ESYSTEM;
	}
	in->pump = fork();
	if (in->pump < 0) {
		in->pump = 0;
		rd_fail_errno("cannot start a process");
		close(copy);
		close(ends[0]);
		close(ends[1]);
		return RD_ESYSTEM;
	}
	if (in->pump == 0) {
		close(ends[0]);
		pump(ends[1], copy);
	}
	close(ends[1]);
	close(copy);
	in->first = ends[0];
	in->file = rd_xstrdup(spool);
	in->shown = rd_xstrdup(spool);
	return RD_OK;
}

/* Returns the path of the file that is our standard input, or NULL if the file no longer has
 * one. */
static char *name_of_input(const struct stat *st)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/fd/0", path, sizeof path - 1);
	struct stat named;

	if (n <= 0)
		return NULL;
	path[n] = 0;
	if (stat(path, &named) || named.st_dev != st->st_dev || named.st_ino != st->st_ino)
		return NULL;
	return rd_xstrdup(path);
}

int run_input_open(struct run_input *in, const char *spool)
{
	struct stat st;

	*in = (struct run_input){.first = STDIN_FILENO};
	if (fstat(STDIN_FILENO, &st))
		return rd_fail_errno("cannot examine standard input");
	in->typed = isatty(STDIN_FILENO);
	if (in->typed)
		return RD_OK;
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		return start_pump(in, spool);
	in->file = rd_xstrdup("/proc/self/fd/0");
	if (S_ISREG(st.st_mode)) {
		in->offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
		in->shown = in->offset == 0 ? name_of_input(&st) : NULL;
	}
	return RD_OK;
}

void run_input_first_ended(struct run_input *in)
{
	if (!in->pump)
		return;
	close(in->first);
	in->first = STDIN_FILENO;
	kill(in->pump, SIGKILL);
	rd_reap(in->pump, NULL);
	in->pump = 0;
}

int run_input_again(const struct run_input *in)
{
	RD_ASSERT(in->offset >= 0);
	int fd = open(in->file ? in->file : "/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || (in->offset && lseek(fd, in->offset, SEEK_SET) < 0)) {
		rd_fail_errno("cannot read %s", in->shown ? in->shown : in->file ? in->file : "/dev/null");
		return -1;
	}
	return fd;
}

void run_input_close(struct run_input *in)
{
	run_input_first_ended(in);
	free(in->file);
	free(in->shown);
}

int run_input_open_whole(struct run_input *in, const char *spool)
{
	char bytes[4096];
	int err = run_input_open(in, spool);

	while (!err && in->pump && read(in->first, bytes, sizeof bytes) > 0)
		; /* no run starts before the copy is complete */
	if (!err)
		run_input_first_ended(in);
	return err;
}
