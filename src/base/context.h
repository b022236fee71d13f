/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts: what a thread's messages and its memory belong to.
 *
 * A command of the command line needs none: its messages go to the sink of the process
 * (error.h), and without memory the process ends.  A server enters one for each request, so
 * that each has its own messages, and runs the request through rd_context_run(), so that
 * running out of memory ends the request and not the server.  Inside a library a context
 * without a boundary catches messages for a while.
 *
 * Contexts nest.  They are a thread's own: a thread that works for another one enters a
 * context of its own, whose sink may be the same if that sink is safe to share.
 */
#ifndef BASE_CONTEXT_H
#define BASE_CONTEXT_H

#include "base/error.h"

#include <setjmp.h>
#include <stddef.h>

/* What must be released when a request ends without memory: it lies in the function that
 * adds it, and is removed there in the reverse order. */
struct rd_cleanup {
	void (*release)(void *argument);
	void *argument;
	struct rd_cleanup *next;
};

struct rd_context {
	rd_log_fn *log; /* where messages go; NULL: where those of the outer context go */
	void *data;	/* first argument of `log` */
	size_t limit;	/* bytes that the rd_x functions of alloc.h may hand out in all; 0: no limit */

	/* Private. */
	size_t allocated;
	struct rd_cleanup *cleanups;
	struct rd_context *outer;
	bool speaking;	   /* its sink is being called */
	jmp_buf *boundary; /* NULL: without memory it is the outer context that ends */
};

/* Makes it the thread's context, until the same thread leaves it. */
void rd_context_enter(struct rd_context *c);
void rd_context_leave(struct rd_context *c);

/* Calls work(argument) in the context and returns what it returns.  Without memory, or behind
 * the limit, the context ends: contexts inside it are left, cleanups are run, newest first, the
 * message "out of memory" goes to its log and RD_ENOMEM is returned.  What `work` had
 * allocated and added no cleanup for is lost; a server that has lost much starts anew when
 * its other requests are served. */
int rd_context_run(struct rd_context *c, int (*work)(void *argument), void *argument);

/* For the innermost context of this thread; without one nothing is kept. */
void rd_cleanup_add(struct rd_cleanup *cleanup, void (*release)(void *), void *argument);
void rd_cleanup_remove(struct rd_cleanup *cleanup); /* the newest; it is not run */

/* The innermost context of this thread, NULL outside of all. */
struct rd_context *rd_context_current(void);

/* For alloc.c: counts bytes, and ends the context that is to end.  Returns only if there is none. */
void rd_context_count(size_t bytes);
void rd_context_no_memory(void);

#endif
