/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Derives the order that channels impose on events.  A channel is a pipe, an eventfd, or a socket
 * that connects the process with itself.  A channel is treated as a semaphore, and each send as a
 * post of that semaphore.  When the sizes of all messages are known, rev_channels_finish() decides
 * which receives wait for the semaphore.
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
	/* For each thread, 1 + the index of its last channel operation, as long as that call has
	 * not returned; otherwise 0. */
	uint32_t *pending;
	size_t pending_capacity;
	bool started; /* a thread was created */
	/* Something was sent, without an event, before the first thread was created. */
	bool early;
};

void rev_channels_init(struct rev_channels *c, struct rev_run *run, const struct trace_sites *sites);
void rev_channels_release(struct rev_channels *c);

/* Call this for each record.  If the record is an event, call rev_run_event() first. */
void rev_channels_feed(struct rev_channels *c, uint32_t thread, const struct trace_record *r);
void rev_channels_finish(struct rev_channels *c);

#endif
