/* SPDX-License-Identifier: Apache-2.0 */
/* Documents: the files that --json, --sarif, --html and their like name, and what goes into them. */
#ifndef CMD_OUTPUT_INT_H
#define CMD_OUTPUT_INT_H

#include "finding/finding.h"
#include "report/report.h"

/* Whether "-", standard output, is named. */
bool cmd_is_stdout(const char *path);

/* Whether a document goes there, so that other text must not. */
bool cmd_output_is_stdout(void);

/* Opens `path`, has `what` written and closes it; NULL: nothing is to be done. */
typedef int cmd_write_fn(const void *what, FILE *out);
int cmd_document(const char *path, cmd_write_fn *write, const void *what);

/* For commands whose output is one document: standard output becomes that file; NULL and "-": it stays. */
int cmd_redirect(const char *path);

/* Writes the documents that the options ask for. */
int cmd_output_write(const struct finding_set *set, const struct report_opts *how);

/* Writes what so many schedules covered, if an option asks for it. */
int cmd_write_coverage(const struct finding_set *set, const struct report_opts *how, uint64_t schedules);

/* Writes the findings as JSON. */
int cmd_write_findings(const char *path, const struct finding_set *set);

/* Marks findings that --baseline knows and --suppressions hides.
 * Tells what is no longer needed of them if `tell`. */
int cmd_filter_apply(struct finding_set *set, bool tell);

/* A text with the ids of the confirmed findings that are not suppressed. */
int cmd_write_baseline(const struct finding_set *set, const char *path);

/* Rules that hide the same findings; path NULL: nothing is to be done. */
int cmd_write_suppressions(const struct finding_set *set, const char *path);

/* Milliseconds in whole seconds, no less. */
uint64_t cmd_seconds(uint64_t ms);

#endif
