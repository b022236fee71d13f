/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Derives the order that pipes, eventfds, and sockets that connect the process with itself
 * impose.  A channel is treated as a semaphore that each send posts.  Which receives wait for the
 * semaphore is decided at the end, when all sizes are known.
 *
 * Feed all records of the first walk in order, and call rev_channels_finish() before
 * rev_run_finish().
 */
#ifndef REVERSIBLE_CHANNEL_INT_H
#define REVERSIBLE_CHANNEL_INT_H

#include "reversible/run.h"
#include "trace/full.h"

struct rev_channels {
	struct rev_run *run;
	const struct trace_sites *sites;
	/* By thread: 1 + the index of its last channel operation, while that call has not
	 * returned. */
	uint32_t *pending;
	size_t pending_capacity;
	bool started; /* a thread was created */
	bool early;   /* something was sent before the first thread was created, without an event */
};

void rev_channels_init(struct rev_channels *c, struct rev_run *run, const struct trace_sites *sites);
void rev_channels_release(struct rev_channels *c);

/* To be called after rev_run_event(), if the record is an event. */
void rev_channels_feed(struct rev_channels *c, uint32_t thread, const struct trace_record *r);
void rev_channels_finish(struct rev_channels *c);

#endif
