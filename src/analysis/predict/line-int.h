/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line is a witness written as a sequence of events, without those whose order cannot matter.
 *
 * What all lines of an execution share is computed once (struct lines), so the cost of a line
 * depends on its witness, not on the execution.  Accesses to variables that only one thread uses or
 * that no thread writes are left out: their order does not change the execution.
 */
#ifndef PREDICT_LINE_INT_H
#define PREDICT_LINE_INT_H

#include "predict/predict-int.h"

#define NO_OP UINT32_MAX

struct lines {
	const struct exec *x;
	uint32_t start; /* events before this one have happened: a schedule does not enforce their order */
	uint32_t *kept; /* events that can matter, in recorded order */
	uint32_t kept_count;
	uint32_t *next;	 /* by place in `kept`: the place of the next one of its thread; NO_OP */
	uint32_t *begin; /* by thread: the place of its first one; NO_OP */
	uint32_t *forks; /* events */
	size_t fork_count, fork_capacity;
	uint32_t *op_at;  /* by place: its operation in the current line; NO_OP between lines */
	uint32_t *number; /* by variable: its number in that line; NO_OP between lines */
};

void predict_lines_init(struct lines *s, const struct exec *x);
void predict_lines_release(struct lines *s);

/* The synchronisation operations of a line are numbered by their place in its order.  Its threads
 * and variables are numbered from 0 in the order in which they appear. */
struct event_line {
	const struct exec *x;
	const struct lines *of;
	uint32_t *events;
	size_t count, capacity;
	uint32_t *variable; /* by place in the line: the number of the variable of an access, else NO_OP */
	uint32_t variables;
	uint32_t *steps; /* the places that matter: without the accesses that others represent */
	size_t step_count;
	uint32_t *ops;	     /* events */
	uint32_t *index;     /* of each operation in its thread, from 1 */
	uint32_t *op_thread; /* number of its thread */
	uint32_t *wake;	     /* of the acquisition after a wake: that wake, else NO_OP */
	uint32_t *note;	     /* of such an acquisition: the operation that notified; NO_OP: none before it */
	uint32_t op_count;
	uint32_t *thread_of; /* number of each thread of the execution, NO_OP: none */
	uint32_t threads;
	uint32_t *first;     /* by number of a thread: where its operations begin in by_thread */
	uint32_t *by_thread; /* operations */
	uint32_t *at; /* by thread of the execution: the place in `kept` of its next event after the line */
};

/* Makes the line of the witness, with its target threads up to their targets. */
void predict_line_make(struct event_line *l, struct lines *of, const struct predict_witness *w,
		       const uint32_t *targets, uint32_t count);
void predict_line_release(struct event_line *l);

/* An array of n numbers, all NO_OP. */
uint32_t *predict_unset(size_t n);

#endif
