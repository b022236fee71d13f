/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings for people and for other tools.  In: a complete set of findings.  Out: text on a stream.
 * Nothing is decided here.  All functions return 0, or RD_ESYSTEM if writing to `out` failed.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "finding/finding.h"

struct report_opts {	  /* all zero: the default */
	bool colour;	  /* text: the stream is a terminal with colours */
	bool all;	  /* text: every finding in full: also dropped, known and suppressed ones */
	bool others;	  /* text: also list dropped ones, and speculative ones that are not confirmed */
	bool baseline;	  /* a baseline was used: findings that are not in it are new */
	size_t steps;	  /* how many operations of a schedule to show; 0: 24 (text), 60 (HTML) */
	const char *root; /* where relative source files are searched; NULL: the current directory */
};

/* In the layout of ThreadSanitizer, 80 columns. */
int report_text(const struct finding_set *set, const struct report_opts *opts, FILE *out);

/* One finding as in the text report.  A caller that sets f->printed afterwards makes report_text()
 * omit it. */
int report_finding(const struct finding_set *set, const struct finding *f, const struct report_opts *opts,
		   FILE *out);

/* Prints predictions that were not replayed: one line each, or in full with opts.all.  The sound
 * ones come first; the speculative ones follow separately. */
int report_predictions(const struct finding_set *set, const struct report_opts *opts, FILE *out);

/* A schedule in words, as in the text report; for `raddle dump`. */
int report_schedule(const struct schedule *schedule, const struct report_opts *opts, FILE *out);

/* SARIF 2.1.0; dropped findings are left out. */
int report_sarif(const struct finding_set *set, const struct report_opts *opts, FILE *out);

/* A self-contained page. */
int report_html(const struct finding_set *set, const struct report_opts *opts, FILE *out);

/* What exploring covered in that many schedules: as a page, and as a line of text. */
int report_coverage(const struct finding_set *set, const struct report_opts *opts, uint64_t schedules,
		    FILE *out);
void report_coverage_line(const struct finding_set *set, FILE *out);

/* Whether the stream is a terminal and colours are wanted: $NO_COLOR, $TERM. */
bool report_wants_colour(FILE *out);

#endif
