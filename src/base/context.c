// SPDX-License-Identifier: Apache-2.0
/*
 * Contexts: each thread has a list of them, innermost first.
 * A boundary is a jmp_buf in the frame of rd_context_run().  Cleanups of inner contexts run before
 * the jump, because the jump discards the frames that hold those contexts.  A cleanup is taken off
 * the list before it runs.  So if it runs out of memory as well, the others still run, once each.
 */
#include "base/context.h"

static _Thread_local struct rd_context *innermost;

struct rd_context *rd_context_current(void)
{
	return innermost;
}

void rd_context_enter(struct rd_context *c)
{
	RD_ASSERT(c != NULL && c != innermost);
	c->outer = innermost;
	innermost = c;
}

void rd_context_leave(struct rd_context *c)
{
	RD_ASSERT(innermost == c);
	RD_ASSERT(!c->cleanups);
	innermost = c->outer;
}

void rd_cleanup_add(struct rd_cleanup *cleanup, void (*release)(void *), void *argument)
{
	RD_ASSERT(release != NULL);
	*cleanup = (struct rd_cleanup){.release = release, .argument = argument};
	if (!innermost)
		return;
	cleanup->next = innermost->cleanups;
	innermost->cleanups = cleanup;
}

void rd_cleanup_remove(struct rd_cleanup *cleanup)
{
	if (!innermost)
		return;
	RD_ASSERT(innermost->cleanups == cleanup);
	innermost->cleanups = cleanup->next;
}

static void run_cleanups(struct rd_context *c)
{
	while (c->cleanups) {
		struct rd_cleanup *first = c->cleanups;

		c->cleanups = first->next;
		first->release(first->argument);
	}
}

void rd_context_no_memory(void)
{
	struct rd_context *c = innermost;

	while (c && !c->boundary)
		c = c->outer;
	if (!c)
		return;
	for (;; innermost = innermost->outer) {
		run_cleanups(innermost);
		if (innermost == c)
			longjmp(*c->boundary, 1);
	}
}

void rd_context_count(size_t bytes)
{
	for (struct rd_context *c = innermost; c; c = c->outer) {
		if (!c->limit)
			continue;
		if (__builtin_add_overflow(c->allocated, bytes, &c->allocated) || c->allocated > c->limit)
			rd_context_no_memory();
	}
}

/* Reports that memory has run out.  The message needs memory, too; if it cannot be allocated, the
 * error code is the only report. */
static void report(struct rd_context *c)
{
	jmp_buf boundary;

	c->limit = 0;
	c->in_sink = false;
	c->boundary = &boundary;
	if (!setjmp(boundary))
		rd_fail(RD_ENOMEM, "out of memory");
}

int rd_context_run(struct rd_context *c, int (*work)(void *argument), void *argument)
{
	RD_ASSERT(work != NULL && !c->boundary);
	jmp_buf boundary;
	volatile int code = RD_ENOMEM;

	c->boundary = &boundary;
	rd_context_enter(c);
	if (!setjmp(boundary))
		code = work(argument);
	else
		report(c);
	c->boundary = NULL;
	c->in_sink = false;
	rd_context_leave(c);
	return code;
}
