/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watchdog of a recorded run: notices that the program does not move any more, and has
 * somebody who understands traces look whether that is for good.
 */
#ifndef RECORD_WATCH_H
#define RECORD_WATCH_H

#include "record/collector.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What the kernel says about a program that does not move. */
struct record_still {
	const pid_t *waiting; /* threads that wait for another one, without a time limit */
	size_t waiting_count;
	bool all;     /* no other thread is there, and none of them runs */
	bool catches; /* signals have handlers, so one may bring life back */
	bool alone;   /* no process that it forked is alive */
};

/* Whether the program stands still for good, as far as its trace tells, which is up to date on
 * the disk.  Runs in a process of its own, may take its time, and must not touch the
 * program. */
typedef bool record_stands_fn(void *context, const struct record_still *still);

struct record_watch {
	struct record_session *session;
	struct record_collector *collector; /* set before the first look */
	record_stands_fn *stands;
	void *context;
	bool stood; /* the program stood still for good, and was ended with SIGKILL */

	uint64_t sequence; /* the watchdog's own: when the program moved last */
	int64_t moved_ns, next_ns;
	pid_t looker;
};

/* A `look` of struct record_options; its context is the struct record_watch. */
void record_watch_look(void *watch, pid_t pid);

/* Ends a look that is under way. */
void record_watch_close(struct record_watch *watch);

#endif
