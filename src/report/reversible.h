/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict on whether a run is the same in every schedule, for people and as JSON
 * (doc/format/reversible.md). */
#ifndef REPORT_REVERSIBLE_H
#define REPORT_REVERSIBLE_H

#include "reversible/certificate.h"

#include <stdio.h>

/* A verdict and its origin. */
struct report_reversible {
	const struct rev_result *result;
	const struct trace_sites *sites;
	const char *trace;    /* the directory of the trace */
	const char *schedule; /* the schedule file that was written; NULL if there is none */
	int signal;	      /* the signal that ended the recorded program; 0 if none did */
	bool verbose;
};

void report_reversible_text(const struct report_reversible *c, FILE *out);
int report_reversible_json(const struct report_reversible *c, FILE *out);

/* Reports whether a certificate is valid.  `why` is NULL if it is valid, otherwise the reason why
 * it is not. */
void report_certificate_text(const char *name, const struct rev_certificate *c, const char *why, FILE *out);

#endif
