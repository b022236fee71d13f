/* SPDX-License-Identifier: Apache-2.0 */
/* Writes reports to the hive about the results of a run, as JSON.  A report contains the names of
 * the build, the candidate and the task, and the words and numbers listed below.  It never
 * contains a path, an argument, an address or a value. sketch/plan.h writes the records of tracked
 * runs. */
#ifndef SITE_REPORT_INT_H
#define SITE_REPORT_INT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct site_report {
	const char *run, *candidate;
	uint32_t seq;
	const char *task;   /* the id of the task; NULL if the report belongs to none */
	const char *result; /* race, no-race, timeout, not-seen or context */
	const char *order;  /* the order of the accesses; NULL if there is none */
	const char *proof;  /* the proof of a race */
	bool has_tau, capped;
	uint32_t tau_us, pause_us;
	uint32_t context;	 /* a set of enum raddle_guard_context; sent with context and not-seen */
	const char *consequence; /* the consequence; NULL if there is none */
	int signal;
};

/* Appends the report to `out` as a line. */
void site_report_add(struct rd_buf *out, const struct site_report *r);

/* Makes the body of a request from as many lines as fit.  Stores in *used the number of bytes of
 * these lines, which is 0 if no line is left. */
void site_report_body(struct rd_buf *body, const char *build, const char *site, const char *lines,
		      size_t *used);

/* Returns true if a line is the record of a tracked run (sketch/plan.h).  Such records are sent in
 * separate requests to another address. */
bool site_report_is_run(const char *line);

#endif
