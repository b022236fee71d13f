/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `raddle reversible`. */
#ifndef CMD_REVERSIBLE_H
#define CMD_REVERSIBLE_H

#include "reversible/reversible.h"
#include "finding/schedule.h"

#include <stdio.h>

/* A verdict and where it comes from. */
struct cmd_reversible {
	const struct rev_result *result;
	const struct trace_sites *sites;
	const char *trace;    /* directory */
	const char *program;  /* NULL: unknown */
	const char *schedule; /* file that was written; NULL: none */
	int signal;	      /* that ended the recorded program; 0: none */
	bool verbose;
	bool strict;
};

/* The frame of a site, innermost. */
struct trace_frame reversible_frame(const struct cmd_reversible *c, uint32_t site);

void reversible_text(const struct cmd_reversible *c);
void reversible_json(const struct cmd_reversible *c, FILE *out);

/* The schedule that leads a run of the program to a reversal; to be released.  false: none can. */
bool reversible_schedule(const struct cmd_reversible *c, const struct rev_reversal *v, struct schedule *s);

#endif
