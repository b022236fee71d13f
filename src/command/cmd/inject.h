/* SPDX-License-Identifier: Apache-2.0 */
/* What `raddle inject` shows: which faults fit, progress, and the outcomes. */
#ifndef CMD_INJECT_H
#define CMD_INJECT_H

#include "base/progress.h"
#include "inject/campaign.h"

#include <stdio.h>

/* A line for each kind; to `json` if that is not NULL. */
int cmd_inject_list(const struct inject_ground *ground, const char *json);

struct cmd_inject_summary {
	const char *directory;
	const struct inject_campaign *campaign;
	uint64_t runs, done, fresh, outcomes[RUNLOG_OUTCOMES]; /* fresh: done by this process */
	int64_t start_ns, said_ns, logged_ns;
	int log; /* of progress; -1: none */
	struct rd_progress progress;
	struct rd_buf last, detail; /* what to say of the last run; of all so far */
};

/* The campaign's progress goes to the terminal, and as lines of JSON to DIRECTORY/progress, that of a shard
 * (not negative) to progress.SHARD. */
void cmd_inject_start(struct cmd_inject_summary *s, const char *directory,
		      const struct inject_campaign *campaign, int shard);
void cmd_inject_count(struct cmd_inject_summary *s, const struct runlog_run *run, bool fresh);
/* Text on standard output unless `quiet`, JSON in a file unless that is NULL. */
int cmd_inject_report(struct cmd_inject_summary *s, const char *json, bool quiet);
void cmd_inject_release(struct cmd_inject_summary *s);

#endif
