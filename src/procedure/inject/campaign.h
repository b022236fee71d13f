/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A campaign: a directory with campaign.json, golden/, log and runs/ (doc/format/campaign.md), and
 * the processes that make its runs.
 *
 * A run is finished if and only if its line is in the log.  If a campaign is killed, it can
 * therefore continue where it stopped.  A campaign can be divided into n shards.  Shard i makes
 * the runs whose number is i modulo n and writes log.i.  Shards may run at the same time on
 * different machines that share the directory.
 */
#ifndef INJECT_CAMPAIGN_H
#define INJECT_CAMPAIGN_H

#include "inject/golden.h"
#include "inject/log.h"

struct inject_campaign;

/* Opens the campaign in a directory that contains a campaign.json.  `setup` is the content of that
 * file.  `setup` and `program` must outlive the campaign. */
int inject_campaign_open(struct inject_campaign **c, const char *directory, const struct inject_setup *setup,
			 const struct run_program *program);
void inject_campaign_close(struct inject_campaign *c);

uint64_t inject_campaign_runs(const struct inject_campaign *c); /* number of all runs */

/* Returns the estimated number of runs of the campaign.  A stopping rule in the setup may end the
 * campaign before all inject_campaign_runs() runs are made. */
uint64_t inject_campaign_expected(const struct inject_campaign *c);

struct inject_work {
	unsigned jobs;		/* number of processes that run at the same time */
	unsigned shard, shards; /* 0 shards for the whole campaign */

	/* Called for each run in the log, including runs that earlier processes made; may be NULL.
	 * `fresh` is true if this process made the run. */
	void (*done)(void *context, const struct runlog_run *run, bool fresh);
	void *context;
};

/* Does the remaining runs of the campaign or shard. */
int inject_campaign_run(struct inject_campaign *c, const struct inject_work *work);

/* Makes one run with a given fault in this process.  Stores the log line of the run in `line`, and
 * does not write it to the log.  If `trace` is not NULL, writes the trace of the run to that
 * directory. */
int inject_campaign_repeat(struct inject_campaign *c, const struct inject_fault *fault, const char *trace,
			   struct rd_buf *line);

/* Chooses the fault of run number `run`. */
int inject_campaign_choose(struct inject_campaign *c, uint64_t run, struct inject_fault *fault);

/* Merges the logs of shards into the log, and removes them. */
int inject_campaign_merge(const char *directory);

#endif
