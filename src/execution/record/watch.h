/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watchdog of a recorded run: notices that the program does not move any more, and has
 * somebody who understands traces look whether that is for good.
 */
#ifndef RECORD_WATCH_H
#define RECORD_WATCH_H

#include "base/buf.h"
#include "record/collector.h"
#include "run/proc.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* Whether the program stands still for good, as far as its trace tells, which is in that directory, up to
 * date.  What it has to say about that it writes to `answer`.  Runs in a process of its own, may take its
 * time, and must not touch the program. */
typedef bool record_stands_fn(const char *trace, const struct run_still *still, FILE *answer);

struct record_watch {
	struct run_session *session;
	struct record_collector *collector; /* set before the first look */
	record_stands_fn *stands;
	const char *directory; /* of the trace */
	bool stood;	       /* the program stood still for good, and was ended with SIGKILL */
	struct rd_buf answer;  /* that was written about it; the caller's to release */

	FILE *file;	   /* for the answer */
	uint64_t sequence; /* the watchdog's own: when the program moved last */
	int64_t moved_ns, next_ns;
	pid_t looker;
};

/* A `look` of struct record_options; its context is the struct record_watch. */
void record_watch_look(void *watch, pid_t pid);

/* Ends a look that is under way, and releases all but the answer. */
void record_watch_close(struct record_watch *watch);

#endif
