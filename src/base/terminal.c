// SPDX-License-Identifier: Apache-2.0
/*
 * Standard output and error for text.  In: text with names that programs chose.  Out: the same
 * without control characters, except for Raddle's own colours.  The streams are replaced rather
 * than the calls that print, so no call can be forgotten.  In glibc, the standard streams are
 * variables that may be set.  Documents go to the original standard output.
 */
#include "base/terminal.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/printable.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

void rd_terminal_clean(char *text, size_t length)
{
	char *end = text + length;

	while (text < end) {
		char *escape = memchr(text, '\033', (size_t)(end - text));
		size_t colour = 0;

		while (escape && !(colour = rd_colour_length(escape, (size_t)(end - escape))))
			escape = memchr(escape + 1, '\033', (size_t)(end - escape - 1));
		rd_make_printable(text, (size_t)((escape ? escape : end) - text), true);
		text = escape ? escape + colour : end;
	}
}

/* The write function of a stream.  The cookie points to the descriptor. */
static ssize_t write_clean(void *cookie, const char *data, size_t length)
{
	char *copy = rd_xmalloc(length + 1);
	int failed;

	memcpy(copy, data, length);
	rd_terminal_clean(copy, length);
	failed = rd_write_all(*(const int *)cookie, copy, length);
	free(copy);
	return failed ? 0 : (ssize_t)length;
}

/* Opens a stream.  Returns NULL if that fails; the standard stream then stays as it is. */
static FILE *open_clean(const int *fd, int mode)
{
	FILE *f = fopencookie((void *)fd, "w", (cookie_io_functions_t){.write = write_clean});

	if (f)
		setvbuf(f, NULL, mode, BUFSIZ);
	return f;
}

void rd_terminal_stderr(void)
{
	static const int fd = STDERR_FILENO;
	FILE *f = open_clean(&fd, _IONBF);

	if (f)
		stderr = f;
}

void rd_terminal_stdout(void)
{
	static const int fd = STDOUT_FILENO;
	FILE *f = open_clean(&fd, isatty(fd) ? _IOLBF : _IOFBF);

	if (f)
		stdout = f;
}

void rd_terminal_occupy(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
			abort();
}
