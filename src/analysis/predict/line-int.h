/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line is a witness written as a sequence of events, without the events whose order cannot
 * matter.
 *
 * What all lines of an execution share is computed once (struct lines).  So the cost of a line
 * depends on its witness, not on the execution.  Accesses to variables that only one thread uses,
 * or that no thread writes, are left out: their order does not change the execution.
 */
#ifndef PREDICT_LINE_INT_H
#define PREDICT_LINE_INT_H

#include "predict/predict-int.h"

#define NO_OP UINT32_MAX

struct lines {
	const struct exec *x;
	/* The first event whose order a schedule may enforce.  All earlier events have already
	 * happened. */
	uint32_t start;
	/* The events whose order can matter, in recorded order.  A "place" is an index in this
	 * array. */
	uint32_t *kept;
	uint32_t kept_count;
	/* For each place, the place of the next event of the same thread, or NO_OP if there is
	 * none. */
	uint32_t *next;
	uint32_t *begin; /* the place of each thread's first event, or NO_OP */
	uint32_t *forks; /* the events that create threads */
	size_t fork_count, fork_capacity;
	/* For each position of a notification in the current line, the number of its operation.
	 * All other entries are NO_OP.  When no line is being made, all entries are NO_OP. */
	uint32_t *op_at;
	uint32_t *number; /* the number of each variable in the current line; NO_OP between lines */
};

void predict_lines_init(struct lines *s, const struct exec *x);
void predict_lines_release(struct lines *s);

/* The synchronisation operations of a line are numbered from 0 in the order of the line.  Its
 * threads and variables are numbered from 0 in the order in which they appear. */
struct event_line {
	const struct exec *x;
	const struct lines *of;
	uint32_t *events;
	size_t count, capacity;
	/* The number of the variable that each event of `events` accesses, or NO_OP if the event is
	 * not an access. */
	uint32_t *variable;
	uint32_t variables;
	/* The indices in `events` of the events that matter.  An access that another access
	 * represents is left out. */
	uint32_t *steps;
	size_t step_count;
	uint32_t *ops;	     /* the event of each operation */
	uint32_t *index;     /* the number of each operation in its thread, from 1 */
	uint32_t *op_thread; /* the number of the thread of each operation */
	/* For each operation that is an acquisition after a wake, the wake.  NO_OP for other
	 * operations. */
	uint32_t *wake;
	/* For each operation that is an acquisition after a wake, the notification that caused the
	 * wake, or NO_OP if there was none. */
	uint32_t *note;
	uint32_t op_count;
	/* For each thread of the execution, its number in the line, or NO_OP if it is not in the
	 * line. */
	uint32_t *thread_of;
	uint32_t threads;
	/* For each thread number, the index in by_thread at which its operations begin. */
	uint32_t *first;
	uint32_t *by_thread; /* the operations, thread by thread */
	/* For each thread of the execution, the place in lines.kept of its first event after the
	 * line, or NO_OP if there is none. */
	uint32_t *at;
};

/* Makes the line of a witness.  Threads with a target run up to their target. */
void predict_line_make(struct event_line *l, struct lines *of, const struct predict_witness *w,
		       const uint32_t *targets, uint32_t count);
void predict_line_release(struct event_line *l);

/* Allocates an array of n numbers that are all NO_OP. */
uint32_t *predict_unset(size_t n);

#endif
