/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a complete set of findings to a stream, as text for people or for other tools.  This code
 * makes no decisions about findings.  All functions return 0, or RD_ESYSTEM if writing to `out`
 * failed.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "finding/finding.h"

struct report_opts { /* zero values are the defaults */
	bool colour; /* for text: true if the stream is a terminal with colours */
	/* For text: if set, every finding is printed in full instead of the bugs, including
	 * dropped, known and suppressed ones. */
	bool all;
	/* For text: if set, the findings of each bug follow it in full.  Dropped findings are listed,
	 * and also speculative findings that are not confirmed. */
	bool others;
	/* For text: if set, `raddle replay ID` finds the bugs of this set, so that commands need no
	 * paths. */
	bool ids;
	bool baseline; /* true if a baseline was used, so that findings outside it are new */
	/* The number of operations of a schedule to show; 0 means 24 (text) or 60 (HTML). */
	size_t steps;
	const char *root; /* the directory of relative source files; NULL for the current directory */
};

/* Writes a block for each bug and a summary, 80 columns wide. */
int report_text(const struct finding_set *set, const struct report_opts *opts, FILE *out);

/* Announces a finding that has just been confirmed, in a line or two. */
int report_confirmed(const struct finding_set *set, const struct finding *f, const struct report_opts *opts,
		     FILE *out);

/* Prints predictions that were not replayed, each on one line, or in full if opts->all is set.
 * Sound predictions come first; speculative ones follow in a separate part. */
int report_predictions(const struct finding_set *set, const struct report_opts *opts, FILE *out);

/* Describes a schedule in words, as in the text report; for `raddle dump`. */
int report_schedule(const struct schedule *schedule, const struct report_opts *opts, FILE *out);

/* Writes SARIF 2.1.0 without the dropped findings. */
int report_sarif(const struct finding_set *set, const struct report_opts *opts, FILE *out);

/* Writes a self-contained page. */
int report_html(const struct finding_set *set, const struct report_opts *opts, FILE *out);

/* Writes the coverage of an exploration: report_coverage() as a page, and report_coverage_line() as
 * a line of text.  `schedules` is the number of schedules that were explored. */
int report_coverage(const struct finding_set *set, const struct report_opts *opts, uint64_t schedules,
		    FILE *out);
void report_coverage_line(const struct finding_set *set, FILE *out);

/* Returns true if the stream is a terminal and colours are wanted, according to $NO_COLOR and
 * $TERM. */
bool report_wants_colour(FILE *out);

#endif
