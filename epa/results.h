/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of a campaign: what its directory says about the program, and the runs of
 * its log.  In: a directory.  Out: the runs in order of their numbers, each once.
 */
#ifndef EPA_RESULTS_H
#define EPA_RESULTS_H

#include "epa/runlog.h"

struct epa_results {
	const char *directory; /* the caller's */
	char *name;	       /* of the program, without its folder */
	char *command;	       /* program and arguments, "" if unknown */
	uint64_t planned;      /* runs the campaign has when it is done; 0: unknown */
	bool forced;	       /* the runs without a fault failed or differed, and the user went on */
	struct epa_run *runs;
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
int epa_results_read(struct epa_results *r, const char *directory);

/* The lines of a log in memory; `name` is for messages.  epa_results_finish() sorts. */
int epa_results_add(struct epa_results *r, const char *text, size_t length, const char *name);
void epa_results_finish(struct epa_results *r);

void epa_results_release(struct epa_results *r);

#endif
