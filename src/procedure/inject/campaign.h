/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A campaign: a directory with campaign.json, golden/, log and runs/ (doc/format/campaign.md), and
 * the processes that do its runs.
 *
 * A run is finished if and only if its line is in the log.  So a killed campaign can continue where
 * it stopped.  Shard i of n does the runs whose number is i modulo n and writes log.i; shards may
 * run at the same time on different machines that share the directory.
 */
#ifndef INJECT_CAMPAIGN_H
#define INJECT_CAMPAIGN_H

#include "inject/golden.h"
#include "inject/log.h"

struct inject_campaign;

/* Opens the directory of a campaign that has a campaign.json.  `setup` is the content of that file.
 * Setup and program must outlive the campaign. */
int inject_campaign_open(struct inject_campaign **c, const char *directory, const struct inject_setup *setup,
			 const struct run_program *program);
void inject_campaign_close(struct inject_campaign *c);

uint64_t inject_campaign_runs(const struct inject_campaign *c); /* number of all runs */

/* Returns the number of runs that the campaign will probably have.  If the setup has a stopping
 * rule, that may be fewer than inject_campaign_runs(). */
uint64_t inject_campaign_expected(const struct inject_campaign *c);

struct inject_work {
	unsigned jobs;		/* number of processes that run at the same time */
	unsigned shard, shards; /* 0 shards for the whole campaign */

	/* Called for each run in the log, including those of earlier processes; may be NULL.
	 * `fresh` is true if this process did the run. */
	void (*done)(void *context, const struct runlog_run *run, bool fresh);
	void *context;
};

/* Does the remaining runs of the campaign or shard. */
int inject_campaign_run(struct inject_campaign *c, const struct inject_work *work);

/* Makes one run with this fault in this process.  The log line of the run is stored in `line`, not
 * written to the log.  If `trace` is not NULL, the trace of the run is written to that
 * directory. */
int inject_campaign_repeat(struct inject_campaign *c, const struct inject_fault *fault, const char *trace,
			   struct rd_buf *line);

/* Chooses the fault of run number `run`. */
int inject_campaign_choose(struct inject_campaign *c, uint64_t run, struct inject_fault *fault);

/* Merges the logs of shards into the log, and removes them. */
int inject_campaign_merge(const char *directory);

#endif
