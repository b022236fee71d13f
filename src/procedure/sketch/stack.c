// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks (sketch/stack.h).  A thread that stands is in a system call, so the kernel tells its stack pointer.
 * Words above it that lie behind a call are candidates, as in raddle/crash-find.h; old ones may be
 * among them, so whoever asks must know which of them make sense.
 */
#include "sketch/stack.h"

#include "base/clock.h"
#include "raddle/crash-find.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define WORDS 512
#define PATIENCE_NS 5000000000l

static bool peek(pid_t pid, uint64_t address, void *out, size_t size)
{
	struct iovec here = {out, size}, there = {(void *)(uintptr_t)address, size}; /* NOLINT: not ours */

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* "from-end rwxp offset device inode path" */
static void read_mapping(struct stack_code *code, const char *executable, const char *line)
{
	uint64_t from, end;
	char rights[8];
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %n", &from, &end, rights, &path) < 3 ||
	    !path || strncmp(line + path, executable, strcspn(line + path, "\n")) != 0 ||
	    strlen(executable) != strcspn(line + path, "\n"))
		return;
	if (!code->base)
		code->base = from;
	if (strchr(rights, 'x')) {
		code->from = from;
		code->end = end;
	}
}

static void find_code(struct stack_code *code, const char *executable, pid_t pid)
{
	char name[64], real[PATH_MAX], line[PATH_MAX + 128];
	FILE *maps;

	snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
	maps = realpath(executable, real) ? fopen(name, "re") : NULL;
	while (maps && fgets(line, sizeof line, maps))
		read_mapping(code, real, line);
	if (maps)
		fclose(maps);
}

/* "number arguments... stack code", or "running"; 0: nobody says. */
static uint64_t read_pointer(pid_t pid, uint32_t tid, bool *running)
{
	char name[64], line[256] = "", *last;
	uint64_t pointer = 0;
	FILE *file;

	snprintf(name, sizeof name, "/proc/%d/task/%" PRIu32 "/syscall", (int)pid, tid);
	file = fopen(name, "re");
	if (file && fgets(line, sizeof line, file) && (last = strrchr(line, ' '))) {
		*last = '\0';
		last = strrchr(line, ' ');
		pointer = last ? strtoull(last + 1, NULL, 16) : 0;
	}
	if (file)
		fclose(file);
	*running = !strncmp(line, "running", 7);
	return pointer & ~7ull;
}

/* Who has just said that it stands may still be on its way into the call. */
static uint64_t stack_pointer(pid_t pid, uint32_t tid)
{
	int64_t end_ns = rd_now_ns() + PATIENCE_NS;
	bool running;
	uint64_t pointer;

	while (!(pointer = read_pointer(pid, tid, &running)) && running && rd_now_ns() < end_ns)
		usleep(50);
	return pointer;
}

size_t stack_places(struct stack_code *code, const char *executable, pid_t pid, uint32_t tid,
		    uint64_t places[STACK_PLACES])
{
	uint64_t words[WORDS], sp = stack_pointer(pid, tid);
	size_t count = 0, known = WORDS;
	uint8_t before[8];

	if (!code->base)
		find_code(code, executable, pid);
	while (sp && known && !peek(pid, sp, words, known * sizeof *words))
		known /= 2; /* the stack ends before */
	for (size_t i = 0; sp && i < known && count < STACK_PLACES; i++)
		if (words[i] > code->from + sizeof before && words[i] < code->end &&
		    peek(pid, words[i] - sizeof before, before, sizeof before) &&
		    raddle_ends_with_call(before + sizeof before))
			places[count++] = words[i] - 1 - code->base;
	return count;
}
