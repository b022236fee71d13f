/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of a campaign: what its directory says about the program, and the runs of
 * its log.  In: a directory.  Out: the runs in order of their numbers, each once.
 */
#ifndef INJECT_RESULTS_H
#define INJECT_RESULTS_H

#include "inject/runlog.h"

struct campaign_results {
	const char *directory; /* the caller's */
	char *name;	       /* of the program, without its folder */
	char *command;	       /* program and arguments, "" if unknown */
	uint64_t planned;      /* runs the campaign has when it is done; 0: unknown */
	bool forced;	       /* the runs without a fault failed or differed, and the user went on */
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

void campaign_results_release(struct campaign_results *r);

#endif
