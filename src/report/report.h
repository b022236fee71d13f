/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings for people and for other tools.  In: a complete set of findings.  Out: text on a stream.
 * Nothing is decided here.  All functions return 0, or RD_ESYSTEM if writing to `out` failed.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "finding/finding.h"

struct report_opts { /* zero values are the defaults */
	bool colour; /* for text: whether the stream is a terminal with colours */
	/* For text: whether to print every finding in full, also dropped, known and suppressed
	 * ones. */
	bool all;
	/* For text: whether to list dropped findings, and speculative ones that are not
	 * confirmed. */
	bool others;
	bool baseline; /* whether a baseline was used, so that findings outside it are new */
	/* The number of operations of a schedule to show; 0 means 24 (text) or 60 (HTML). */
	size_t steps;
	const char *root; /* the directory of relative source files; NULL for the current directory */
};

/* Writes text in the layout of ThreadSanitizer, 80 columns wide. */
int report_text(const struct finding_set *set, const struct report_opts *opts, FILE *out);

/* Writes one finding as in the text report.  If the caller then sets f->printed, report_text()
 * omits the finding. */
int report_finding(const struct finding_set *set, const struct finding *f, const struct report_opts *opts,
		   FILE *out);

/* Prints predictions that were not replayed: one line each, or in full with opts.all.  The sound
 * ones come first; the speculative ones follow separately. */
int report_predictions(const struct finding_set *set, const struct report_opts *opts, FILE *out);

/* Describes a schedule in words, as in the text report; for `raddle dump`. */
int report_schedule(const struct schedule *schedule, const struct report_opts *opts, FILE *out);

/* Writes SARIF 2.1.0 without the dropped findings. */
int report_sarif(const struct finding_set *set, const struct report_opts *opts, FILE *out);

/* Writes a self-contained page. */
int report_html(const struct finding_set *set, const struct report_opts *opts, FILE *out);

/* The coverage of an exploration with that many schedules, as a page and as a line of text. */
int report_coverage(const struct finding_set *set, const struct report_opts *opts, uint64_t schedules,
		    FILE *out);
void report_coverage_line(const struct finding_set *set, FILE *out);

/* Whether the stream is a terminal and colours are wanted, according to $NO_COLOR and $TERM. */
bool report_wants_colour(FILE *out);

#endif
