// SPDX-License-Identifier: Apache-2.0
/*
 * Runs a harness on given inputs without libFuzzer.  It reads file names from stdin, one per line,
 * and passes each file to the harness once.  So the seeds are tested with the objects of the
 * ordinary and of the sanitized build, and `make check` needs no third build of everything.
 *
 * The file "input" always has the name of the current input, for use after the harness has died.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void note(int fd, const char *name)
{
	size_t length = strlen(name);

	RD_ASSERT(ftruncate(fd, 0) == 0 && pwrite(fd, name, length, 0) == (ssize_t)length);
}

static void run(const char *name)
{
	struct rd_buf content = RD_BUF_INIT;

	RD_ASSERT(rd_file_read(name, &content) == RD_OK);
	/* A copy of exactly this size, so that a sanitizer sees reads beyond it. */
	uint8_t *data = rd_xmalloc(content.length);
	memcpy(data, content.data, content.length);
	LLVMFuzzerTestOneInput(data, content.length);
	free(data);
	rd_buf_release(&content);
}

int main(void)
{
	int fd = open("input", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	char *name = NULL;
	size_t capacity = 0, count = 0;

	RD_ASSERT(fd >= 0);
	for (ssize_t length; (length = getline(&name, &capacity, stdin)) > 0; count++) {
		name[strcspn(name, "\n")] = '\0';
		note(fd, name);
		run(name);
	}
	free(name);
	close(fd);
	printf("%zu inputs\n", count);
	return count == 0;
}
