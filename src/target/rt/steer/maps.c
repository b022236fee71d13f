// SPDX-License-Identifier: Apache-2.0
/*
 * The memory mappings of the process.  In: a question about a mapping.  Out: true if the answer is
 * true for one of them.  Reads /proc/self/maps with system calls of its own, so it works anywhere
 * in the runtime.
 */
#include "rt/steer/turn-int.h"

#include <fcntl.h>
#include <sys/syscall.h>

#define READ_SIZE 4096 /* the number of bytes that are read at once */
#define LINE_SIZE 64   /* the beginning of a line that matters: addresses and permissions */

struct maps_line {
	char line[LINE_SIZE];
	size_t length;
};

/* Adds a character.  Returns true if it ends a line, which is then in `line`. */
static bool add(struct maps_line *l, char c)
{
	if (c != '\n') {
		if (l->length < sizeof l->line - 1)
			l->line[l->length++] = c;
		return false;
	}
	l->line[l->length] = '\0';
	l->length = 0;
	return true;
}

bool rt_maps_any(bool (*is)(const char *line, uintptr_t argument), uintptr_t argument, bool otherwise)
{
	long fd = rt_bare(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC), n;
	struct maps_line lines = {.length = 0};
	char text[READ_SIZE];
	bool any = false;

	if (fd < 0)
		return otherwise;
	while (!any && (n = rt_bare(SYS_read, fd, (long)text, sizeof text)) > 0)
		for (long i = 0; i < n && !any; i++)
			any = add(&lines, text[i]) && is(lines.line, argument);
	rt_bare(SYS_close, fd);
	return any;
}
