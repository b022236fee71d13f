/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the import of STD text share: std.c, std-delay.c. */
#ifndef TRACE_STD_INT_H
#define TRACE_STD_INT_H

#include "base/buf.h"
#include "base/map.h"
#include "trace/encode-int.h"
#include "trace/std-line.h"
#include "trace/std.h"
#include "trace/writer.h"

#define STD_NO_OWNER 0 /* threads are numbered from 1 */

/* A line, with the number of its thread. */
struct std_event {
	const struct std_operation *operation;
	struct std_span operand;
	uint32_t thread;
	uint64_t place; /* line << 24 | file; file 0 is the text itself */
	uint64_t line;
};

struct std_thread {
	struct trace_encoder encoder;
	struct std_event *delayed; /* events that cannot have happened yet (std-delay.c) */
	size_t delayed_first, delayed_count, delayed_capacity;
	bool fork_delayed; /* its fork is among the delayed events of another thread */
	uint32_t forks;
	uint32_t stack_site;		/* top of the encoded call stack, 0: empty */
	uint32_t deferred;		/* lock + 1 whose release is deferred */
	enum raddle_event deferred_row; /* and the event that it becomes */
	uint64_t deferred_q;
	uint32_t deferred_site;
	uint64_t begin_q; /* of a deferred `begin`; 0: there is no such line */
	uint32_t begin_site;
	uint64_t end_q; /* of an `end` that may be that of the thread; 0: there is no such line */
	uint32_t end_site;
	uint32_t waiting;   /* lock + 1 of a wait that has not returned */
	uint32_t condition; /* that it waits for */
	uint64_t last_line; /* its last line, if that comes after the first join; else 0 */
	bool seen, forked;
	bool active; /* it has done something, not only begun */
};

struct std_lock {
	uint32_t owner; /* thread + 1 */
	uint32_t depth;
	uint32_t readers;
};

struct std_import {
	const struct trace_std_opts *opts;
	struct trace_writer *writer;
	struct rd_names thread_names, names[STD_SPACES], files;
	struct std_thread *threads;
	struct std_lock *locks;
	size_t thread_capacity, lock_capacity;
	struct rd_umap site_of; /* place and operation to n */
	struct rd_buf sites;	/* their S records */
	uint32_t site_count;
	uint64_t records; /* of the site table */
	uint64_t q, line, events, problems;
	uint32_t last_thread; /* thread + 1 of the previous event */
	uint32_t thread;      /* of the previous line, and how it was written */
	struct std_span thread_text;
	const char *next, *end; /* of the remaining text */
	bool joins;		/* last_line of the threads is known */
	size_t delayed;		/* threads with delayed events */
};

/* Prints a warning about the current line, unless there were many. */
void std_warn(struct std_import *in, const char *what, const char *name);

struct std_lock *std_lock_of(struct std_import *in, uint32_t number);

/* The thread that is forked or joined.  Some writers leave out the T there, as in T0|fork(1). */
uint32_t std_operand_thread(struct std_import *in, const struct std_event *e);

/* Writes an event to the stream of its thread. */
int std_put_event(struct std_import *in, const struct std_event *e);

/* ---- std-delay.c ---- */

/* Writes an event, or delays it if it cannot have happened yet. */
int std_put_in_time(struct std_import *in, const struct std_event *e);

/* Writes all delayed events that are possible now; at the end of the text all of them. */
int std_resume_all(struct std_import *in, bool is_end);

#endif
