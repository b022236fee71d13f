/* SPDX-License-Identifier: Apache-2.0 */
/* Where findings go: the files that `predict` and `check` are asked for. */
#ifndef CMD_OUTPUT_H
#define CMD_OUTPUT_H

#include "finding/finding.h"
#include "report/report.h"

struct cmd_output {
	const char *json, *sarif, *html; /* files; "-": standard output; NULL: not wanted */
};

/* Whether one of them goes to standard output. */
bool cmd_output_is_stdout(const struct cmd_output *o);

/* Whether at most one does; `name` is the command's, for the message. */
int cmd_output_check(const struct cmd_output *o, const char *name);

int cmd_output_write(const struct cmd_output *o, const struct finding_set *set,
		     const struct report_opts *opts);

/* Marks findings that a baseline knows and a suppressions file hides; either may be NULL.
 * Tells what is no longer needed of them if `tell`. */
struct cmd_filter {
	const char *baseline, *suppressions;
	size_t fixed; /* ids of the baseline that no finding has */
};
int cmd_filter_apply(struct cmd_filter *filter, struct finding_set *set, bool tell);

/* A text with the ids of the confirmed findings that are not suppressed. */
int cmd_write_baseline(const struct finding_set *set, const char *path);

#endif
