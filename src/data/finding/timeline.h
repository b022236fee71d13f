/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline of a finding: the steps of its threads that matter, in the order in which they lead
 * to the failure.  Reports show it with a column for each thread.
 *
 * 	struct finding_timeline t;
 * 	finding_timeline_make(&t, f);
 * 	...
 * 	finding_timeline_release(&t);
 */
#ifndef FINDING_TIMELINE_H
#define FINDING_TIMELINE_H

#include "finding/finding.h"

struct finding_step {
	const char *thread;	    /* canonical name */
	struct finding_frame place; /* the line of the program that the thread executes */
	const char *event;	    /* what the thread does there, such as "writes hits" */
	bool last;		    /* the program fails here, or waits here forever */
};

struct finding_timeline {
	struct finding_step *steps;
	size_t count, capacity;
	struct rd_arena *arena; /* owns the events */
};

/* Makes the timeline: the steps of a run that were recorded for the finding or, if there are none,
 * what follows from its accesses or waits with their locks, and from its schedule.  It has no steps if
 * nothing is known. */
void finding_timeline_make(struct finding_timeline *t, const struct finding *f);
void finding_timeline_release(struct finding_timeline *t);

/* Appends the name of a thread for people: the name that the program gave it, `main`, or the function
 * that it runs.  If several threads of the finding run that function, a number follows. */
void finding_thread_name(struct rd_buf *out, const struct finding *f, const char *thread);

/* Appends the name of a function without its return type and parameters: `get` for `int get(void)`. */
void finding_function_name(struct rd_buf *out, const char *function);

#endif
