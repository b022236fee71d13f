// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks (sketch/stack-int.h).  A stopped thread is in a system call, so the kernel knows its stack
 * pointer.  Words on the stack that point right after a call instruction may be return addresses,
 * as in raddle/crash-find.h.  Some may be stale, so the caller must decide which of them make
 * sense.
 */
#include "sketch/stack-int.h"

#include "base/clock.h"
#include "base/error.h"
#include "raddle/crash-find.h"
#include "run/proc.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Number of words of the stack that are searched for return addresses: a page; set by hand. */
#define STACK_WORDS 512
/* The longest time that a thread may need to enter its system call.  A busy machine can delay the
 * thread by seconds.  Set by hand. */
#define CALL_WAIT_NS 5000000000l
/* Microseconds between two attempts.  A thread usually needs only a few microseconds to enter the
 * call. */
#define CALL_POLL_US 50

/* The program whose mapping is looked for in a process. */
struct wanted {
	struct stack_code *code;
	const char *executable;
};

static bool take_mapping(void *context, const struct run_mapping *m)
{
	const struct wanted *w = context;

	if (strcmp(m->name, w->executable))
		return false;
	if (!w->code->base)
		w->code->base = m->start;
	if (m->code) {
		w->code->from = m->start;
		w->code->end = m->end;
	}
	return false;
}

static void find_code(struct stack_code *code, const char *executable, pid_t pid)
{
	char real[PATH_MAX];

	if (realpath(executable, real))
		run_process_mappings(pid, take_mapping, &(struct wanted){code, real});
}

/* Returns the stack pointer of a stopped thread, or 0 if unknown.  A thread that has just reported
 * that it is stopped may not have entered the system call yet. */
static uint64_t stack_pointer(pid_t pid, uint32_t tid)
{
	int64_t end_ns = rd_now_ns() + CALL_WAIT_NS;
	struct run_call call;
	bool known;

	while (!(known = run_task_call(pid, (pid_t)tid, &call)) && call.running && rd_now_ns() < end_ns)
		usleep(CALL_POLL_US);
	return known ? call.stack & ~7ull : 0;
}

size_t stack_places(struct stack_code *code, const char *executable, pid_t pid, uint32_t tid,
		    uint64_t places[STACK_PLACES])
{
	uint64_t words[STACK_WORDS], sp = stack_pointer(pid, tid);
	size_t count = 0, known = STACK_WORDS;
	uint8_t before[8];

	if (!code->base)
		find_code(code, executable, pid);
	RD_ASSERT(code->from <= code->end);
	while (sp && known && !run_process_peek(pid, sp, words, known * sizeof *words))
		known /= 2; /* the stack may end before */
	for (size_t i = 0; sp && i < known && count < STACK_PLACES; i++)
		if (words[i] > code->from + sizeof before && words[i] < code->end &&
		    run_process_peek(pid, words[i] - sizeof before, before, sizeof before) &&
		    raddle_ends_with_call(before + sizeof before))
			places[count++] = words[i] - 1 - code->base;
	return count;
}
