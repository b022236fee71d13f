/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A context determines where a thread's messages go, and what ends when memory runs out.  Commands
 * that are run from the command line need no context.  Their messages go to the sink of the process
 * (error.h), and the process ends when memory runs out.  A server runs each request through
 * rd_context_run().  The request then has its own messages, and running out of memory ends the
 * request, not the server.  A library that only wants to intercept messages enters a context
 * without a boundary.  Contexts nest and belong to one thread.  A thread that works for another
 * thread enters its own context, which may use the other thread's sink if that sink is thread-safe.
 */
#ifndef BASE_CONTEXT_H
#define BASE_CONTEXT_H

#include "base/error.h"

#include <setjmp.h>
#include <stddef.h>

/* A cleanup: how to release a resource if memory runs out within rd_context_run().  The struct is a
 * local variable of the function that registers it with the context.  That function removes its
 * cleanups in the reverse order. */
struct rd_cleanup {
	void (*release)(void *argument);
	void *argument;
	struct rd_cleanup *next;
};

struct rd_context {
	rd_log_fn *log; /* the function that gets messages; NULL for the sink of the outer context */
	void *data;	/* the first argument of `log` */
	/* The maximum number of bytes that the rd_x functions of alloc.h may allocate in total; 0
	 * for no limit. */
	size_t limit;

	/* The following members are private. */
	size_t allocated;
	struct rd_cleanup *cleanups;
	struct rd_context *outer;
	bool in_sink; /* true while the context's sink is being called */
	/* Where to jump if memory runs out; NULL if the outer context must end instead. */
	jmp_buf *boundary;
};

/* Makes c the innermost context of this thread, until the same thread leaves it. */
void rd_context_enter(struct rd_context *c);
void rd_context_leave(struct rd_context *c);

/* Calls work(argument) in the context and returns its result.  The context ends if memory runs out
 * or the limit is exceeded.  Then inner contexts are left, cleanups run (newest first), the log
 * gets "out of memory", and RD_ENOMEM is returned.  Memory that `work` allocated without a cleanup
 * leaks.  So a server that has leaked a lot should restart once its other requests are done. */
int rd_context_run(struct rd_context *c, int (*work)(void *argument), void *argument);

/* Adds a cleanup to the innermost context of this thread.  Without a context nothing happens. */
void rd_cleanup_add(struct rd_cleanup *cleanup, void (*release)(void *), void *argument);
/* Removes a cleanup without running it.  The cleanup must be the newest one. */
void rd_cleanup_remove(struct rd_cleanup *cleanup);

/* Returns the innermost context of this thread, or NULL. */
struct rd_context *rd_context_current(void);

/* Only alloc.c calls these functions.  rd_context_count() counts bytes in all contexts of the
 * thread.  If a limit is exceeded, or memory has run out, the innermost context with a boundary
 * ends.  Without such a context, both functions return. */
void rd_context_count(size_t bytes);
void rd_context_no_memory(void);

#endif
