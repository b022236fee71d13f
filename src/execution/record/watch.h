/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watchdog of a recorded run.  It notices that the program makes no progress, and lets a
 * callback that understands traces decide whether the program hangs.
 */
#ifndef RECORD_WATCH_H
#define RECORD_WATCH_H

#include "base/buf.h"
#include "record/collector.h"
#include "run/proc.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* Decides from the trace in the directory `trace`, which is up to date, whether the program hangs.
 * Writes an explanation to `answer`.  The callback runs in a separate process and may take a long
 * time.  It must not change the program. */
typedef bool record_hang_fn(const char *trace, const struct run_still *still, FILE *answer);

struct record_watch {
	struct run_session *session;
	struct record_collector *collector; /* set before the first look */
	record_hang_fn *stands;
	const char *directory; /* directory of the trace */
	bool stood;	       /* the program hung, and was killed */
	struct rd_buf answer;  /* the explanation; released by the caller */

	FILE *file;	   /* file that receives the answer */
	uint64_t sequence; /* the session's sequence when the program last made progress */
	int64_t moved_ns, next_ns;
	pid_t looker;
};

/* The `look` callback of struct record_options; its context is the struct record_watch. */
void record_watch_look(void *watch, pid_t pid);

/* Cancels an unfinished look, and releases everything but the answer. */
void record_watch_close(struct record_watch *watch);

#endif
