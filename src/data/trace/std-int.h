/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that std.c and std-delay.c share, which are parts of the import of STD text. */
#ifndef TRACE_STD_INT_H
#define TRACE_STD_INT_H

#include "base/buf.h"
#include "base/map.h"
#include "trace/encode-int.h"
#include "trace/std-line.h"
#include "trace/std.h"
#include "trace/writer.h"

#define STD_NO_OWNER 0 /* threads are numbered from 1 */

/* An event of the text: a line, with the number of its thread. */
struct std_event {
	const struct std_operation *operation;
	struct std_span operand;
	uint32_t thread;
	uint64_t place; /* line << 24 | file; file 0 is the STD text itself */
	uint64_t line;
};

struct std_thread {
	struct trace_encoder encoder;
	struct std_event *delayed; /* events that cannot have happened yet (std-delay.c) */
	size_t delayed_first, delayed_count, delayed_capacity;
	bool fork_delayed; /* the fork that creates it is a delayed event of another thread */
	uint32_t forks;
	/* The site at the top of the encoded call stack, or 0 if the stack is empty. */
	uint32_t stack_site;
	/* 1 + the lock whose release is deferred, or 0 if no release is deferred. */
	uint32_t deferred;
	enum raddle_event deferred_row; /* the event that the deferred release becomes */
	uint64_t deferred_q;
	uint32_t deferred_site;
	uint64_t begin_q; /* q of a deferred `begin` line; 0 if there is none */
	uint32_t begin_site;
	uint64_t end_q; /* q of an `end` line that may end the thread; 0 if there is none */
	uint32_t end_site;
	uint32_t waiting;   /* 1 + the lock of a wait that has not returned */
	uint32_t condition; /* the condition that the thread waits for */
	/* The number of the thread's last line, if that comes after the first join; else 0. */
	uint64_t last_line;
	bool seen, forked;
	bool active; /* the thread has done something other than begin */
};

struct std_lock {
	uint32_t owner; /* 1 + the thread that holds the lock */
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
	struct rd_umap site_of; /* maps a place and an operation to the number of the site */
	struct rd_buf sites;	/* the S records of the sites */
	uint32_t site_count;
	uint64_t records; /* number of records in the site table */
	uint64_t q, line, events, problems;
	uint32_t last_thread; /* 1 + the thread of the previous event */
	uint32_t thread;      /* the thread of the previous line */
	struct std_span thread_text;
	const char *next, *end; /* the remaining text */
	bool joins;		/* true if last_line of the threads is known */
	size_t delayed;		/* number of threads with delayed events */
};

/* Prints a warning about the current line, unless there were many. */
void std_warn(struct std_import *in, const char *what, const char *name);

struct std_lock *std_lock_of(struct std_import *in, uint32_t number);

/* Returns the thread that an event forks or joins.  Some programs omit the T there, as in
 * T0|fork(1). */
uint32_t std_operand_thread(struct std_import *in, const struct std_event *e);

int std_put_event(struct std_import *in, const struct std_event *e);

/* ---- std-delay.c ---- */

/* Writes an event, or delays it if it cannot have happened yet. */
int std_put_in_time(struct std_import *in, const struct std_event *e);

/* Writes all delayed events that are possible now.  At the end of the text, writes all of them. */
int std_resume_all(struct std_import *in, bool is_end);

#endif
