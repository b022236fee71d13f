/* SPDX-License-Identifier: Apache-2.0 */
/* The progress of a campaign: a line on the terminal, and lines of JSON in its directory
 * (doc/format/campaign.md).
 */
#ifndef INJECT_PROGRESS_H
#define INJECT_PROGRESS_H

#include "base/buf.h"
#include "base/progress.h"
#include "inject/campaign.h"

struct inject_progress {
	const struct inject_campaign *campaign;
	/* `fresh` is the number of runs done by this process. */
	uint64_t runs, done, fresh, outcomes[RUNLOG_OUTCOMES];
	int64_t start_ns, said_ns, logged_ns;
	int log; /* descriptor of the file; -1 if it is not open */
	struct rd_progress line;
	struct rd_buf detail; /* the estimate and the present numbers of outcomes, as text */
};

/* The speed of a campaign, and how long it will take. */
struct inject_pace {
	double rate, left; /* runs per second, and remaining seconds; negative if unknown */
};

/* Estimates the pace: `fresh` runs took `seconds`, and `done` of the `expected` runs are
 * finished. */
struct inject_pace inject_pace(uint64_t fresh, double seconds, uint64_t done, uint64_t expected);

/* Appends a time such as "2 h 10 min", "3 min 20 s" or "40 s". */
void inject_time_text(struct rd_buf *out, double seconds);

/* Starts to report progress, on the terminal and in DIRECTORY/progress, or DIRECTORY/progress.SHARD
 * if `shard` is not negative. */
void inject_progress_start(struct inject_progress *p, const char *directory,
			   const struct inject_campaign *campaign, int shard);
/* Counts a finished run.  If `fresh` is false, the run was finished before this process started. */
void inject_progress_count(struct inject_progress *p, const struct runlog_run *run, bool fresh);
/* Erases the line on the terminal, so that other text can be printed. */
void inject_progress_hide(struct inject_progress *p);
void inject_progress_release(struct inject_progress *p);

#endif
