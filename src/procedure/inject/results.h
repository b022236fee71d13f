/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of a campaign: what its directory says about the program, and the runs of
 * its log.  In: a directory.  Out: the runs in order of their numbers, each once.
 */
#ifndef INJECT_RESULTS_H
#define INJECT_RESULTS_H

#include "inject/runlog.h"

struct trace_sites;

struct campaign_results {
	const char *directory; /* the caller's */
	char *name;	       /* of the program, without its folder */
	char *command;	       /* program and arguments, "" if unknown */
	uint64_t planned;      /* runs the campaign has when it is done; 0: unknown */
	bool forced;	       /* the runs without a fault failed or differed, and the user went on */
	double until;	       /* runs go on until an interval is this wide, halved; 0: as many as planned */
	enum runlog_outcome until_outcome;
	struct trace_sites *sites; /* of the golden run; NULL: there is no table */
	struct rd_names globals;   /* names of its variables that are not of one function */
	struct runlog_run *runs;
	size_t count, capacity;
	struct rd_names texts; /* what the runs point to */
	size_t cut;	       /* logs whose last line is incomplete: the run did not happen */
	size_t damaged;	       /* other lines that are none */
	size_t repeated;       /* runs that were there already */
};
#define EPA_RESULTS_INIT                                                                                     \
	{                                                                                                    \
		0                                                                                            \
	}

/* Reads campaign.json, log and log.*; a cut or damaged line is skipped with a message. */
int campaign_results_read(struct campaign_results *r, const char *directory);

/* The lines of a log in memory; `name` is for messages.  campaign_results_finish() sorts. */
int campaign_results_add(struct campaign_results *r, const char *text, size_t length, const char *name);
void campaign_results_finish(struct campaign_results *r);

/* Keeps the runs of the kinds in a list with commas, whose upper and lower case are alike; an error if a kind
 * has none. */
int campaign_results_choose(struct campaign_results *r, const char *kinds);

void campaign_results_release(struct campaign_results *r);

#endif
