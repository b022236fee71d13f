/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of a campaign: facts about the program, read from the campaign's directory, and the
 * runs, read from its log.  In: a directory.  Out: the runs, sorted by number, each of them once.
 */
#ifndef INJECT_RESULTS_H
#define INJECT_RESULTS_H

#include "inject/runlog.h"

struct trace_sites;

struct campaign_results {
	const char *directory; /* owned by the caller */
	char *name;	       /* name of the program without its folder */
	char *command;	       /* program and arguments; "" if unknown */
	uint64_t planned;      /* number of runs of the complete campaign; 0 if unknown */
	/* The fault-free runs differed, and the user continued nevertheless. */
	bool forced;
	/* The campaign stops when half the width of the confidence interval is at most this value.
	 * 0 if there is no such rule. */
	double until;
	enum runlog_outcome until_outcome;
	struct trace_sites *sites; /* site table of the golden run; NULL if there is none */
	struct rd_names globals;   /* names of variables that do not belong to one function */
	struct runlog_run *runs;
	size_t count, capacity;
	struct rd_names texts; /* owns the texts of the runs */
	/* Number of logs whose last line is incomplete.  The run of such a line does not count. */
	size_t cut;
	size_t damaged;	 /* number of other invalid lines */
	size_t repeated; /* number of duplicate runs */
};
#define EPA_RESULTS_INIT                                                                                     \
	{                                                                                                    \
		0                                                                                            \
	}

/* Reads campaign.json, `log` and `log.*`.  Skips incomplete and damaged lines with a message. */
int campaign_results_read(struct campaign_results *r, const char *directory);

/* Adds the lines of a log in memory.  `name` is for messages. */
int campaign_results_add(struct campaign_results *r, const char *text, size_t length, const char *name);
/* Sorts the runs.  Call this after the last log was added. */
void campaign_results_finish(struct campaign_results *r);

/* Keeps only the runs with certain kinds of faults.  `kinds` is a comma-separated list, in upper
 * or lower case.  It is an error if a kind has no runs. */
int campaign_results_choose(struct campaign_results *r, const char *kinds);

void campaign_results_release(struct campaign_results *r);

#endif
