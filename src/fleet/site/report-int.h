/* SPDX-License-Identifier: Apache-2.0 */
/* Reports to the hive about the results of a run, as JSON.  They contain the names of builds,
 * candidates and tasks, and the words and numbers listed below, but never a path, an argument, an
 * address or a value.  Records of tracked runs are written by sketch/plan.h. */
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

/* Makes the body of a request from as many lines as fit.  Stores the number of bytes of these
 * lines in *used, or 0 if no line is left. */
void site_report_body(struct rd_buf *body, const char *build, const char *site, const char *lines,
		      size_t *used);

/* Returns true if a line is the record of a tracked run (sketch/plan.h).  Such records are sent in
 * separate requests to another address. */
bool site_report_is_run(const char *line);

#endif
