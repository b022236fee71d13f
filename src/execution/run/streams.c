// SPDX-License-Identifier: Apache-2.0
/*
 * The streams of a run: an input that each run can read from the start, and two outputs that can
 * be read after the program has ended.  The files are opened for appending, because commands that
 * run beside the program write to them too.
 */
#include "run/streams.h"

#include "base/alloc.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_output(const char *directory, const char *name)
{
	char *path = directory ? rd_xasprintf("%s/%s", directory, name) : NULL;
	int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666)
		      : memfd_create("raddle-output", MFD_CLOEXEC);

	if (fd < 0)
		rd_fail_errno("cannot create %s", path ? path : "a memory file");
	free(path);
	return fd;
}

int run_streams_open(struct run_streams *s, const struct run_input *input, const char *directory)
{
	*s = (struct run_streams){.fds = {run_input_again(input), open_output(directory, "stdout"),
					  open_output(directory, "stderr")},
				  .offset = input->offset};
	return s->fds[0] < 0 || s->fds[1] < 0 || s->fds[2] < 0 ? RD_ESYSTEM : RD_OK;
}

void run_streams_close(struct run_streams *s)
{
	for (int i = 0; i < 3; i++)
		if (s->fds[i] >= 0)
			close(s->fds[i]);
	*s = (struct run_streams){.fds = {-1, -1, -1}};
}

void run_streams_rewind(const struct run_streams *s)
{
	RD_ASSERT(s->fds[0] >= 0 && s->fds[1] >= 0 && s->fds[2] >= 0);
	lseek(s->fds[0], s->offset, SEEK_SET);
	for (int i = 1; i < 3; i++)
		if (ftruncate(s->fds[i], 0) || lseek(s->fds[i], 0, SEEK_SET) < 0)
			rd_debug("the output of a run cannot be cut off");
}

int run_streams_read(const struct run_streams *s, int which, struct rd_buf *text)
{
	RD_ASSERT(which == STDOUT_FILENO || which == STDERR_FILENO);
	return run_stream_read(s->fds[which], text);
}

int run_stream_read(int fd, struct rd_buf *text)
{
	struct stat st;
	off_t at = 0;

	if (fstat(fd, &st))
		return rd_fail_errno("cannot read what the program wrote");
	rd_buf_reserve(text, (size_t)st.st_size + 1);
	while (at < st.st_size) {
		ssize_t n = pread(fd, text->data + text->length, (size_t)(st.st_size - at), at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		at += n;
		text->length += (size_t)n;
	}
	text->data[text->length] = '\0';
	return RD_OK;
}
