/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A campaign: a directory with campaign.json, golden/, log and runs/ (doc/format/campaign.md), and the
 * processes that do its runs.
 *
 * A run is done when its line is in the log; whatever happens before leaves nothing that counts.  So a
 * campaign that was killed goes on where it was.  A shard i of n does the runs whose number is i modulo n and
 * writes log.i; shards may run at the same time on different machines that share the directory.
 */
#ifndef INJECT_CAMPAIGN_H
#define INJECT_CAMPAIGN_H

#include "inject/golden.h"
#include "inject/log.h"

#define RUN_JOBS_MAX 1024

struct inject_campaign;

/* The directory of a campaign whose campaign.json was written.  `setup` is what that says; it and the program
 * outlive the campaign. */
int inject_campaign_open(struct inject_campaign **c, const char *directory, const struct inject_setup *setup,
			 const struct run_program *program);
void inject_campaign_close(struct inject_campaign *c);

uint64_t inject_campaign_runs(const struct inject_campaign *c); /* in all */

/* How many there will be, as far as is known by now: fewer if the setup says until when. */
uint64_t inject_campaign_expected(const struct inject_campaign *c);

struct inject_work {
	unsigned jobs;		/* processes at a time */
	unsigned shard, shards; /* 0 shards: the whole campaign */

	/* Called for each line when it is in the log, also for those that were there before; may be NULL. */
	void (*done)(void *context, const struct runlog_run *run, bool fresh);
	void *context;
};

/* Does what is left of the campaign or shard. */
int inject_campaign_run(struct inject_campaign *c, const struct inject_work *work);

/* One injection, in this process, not logged: line gets what would be; `trace` is where its trace goes, or
 * NULL. */
int inject_campaign_repeat(struct inject_campaign *c, const struct inject_fault *fault, const char *trace,
			   struct rd_buf *line);

/* Run number `run` of the campaign. */
int inject_campaign_choose(struct inject_campaign *c, uint64_t run, struct inject_fault *fault);

/* Puts the parts that shards have written into the log, and removes them. */
int inject_campaign_merge(const char *directory);

#endif
