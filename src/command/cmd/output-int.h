/* SPDX-License-Identifier: Apache-2.0 */
/* Writes documents, which are the files that --json, --sarif, --html and similar options name. */
#ifndef CMD_OUTPUT_INT_H
#define CMD_OUTPUT_INT_H

#include "base/buf.h"
#include "base/progress.h"
#include "finding/finding.h"
#include "report/report.h"

/* Returns true if the path is "-", which stands for standard output. */
bool cmd_is_stdout(const char *path);

/* Returns true if a document goes to standard output.  No other text may then be written there. */
bool cmd_output_is_stdout(void);

/* cmd_document() calls `write` with `what` and a stream to the file `path`.  It does nothing if
 * `path` is NULL. */
typedef int cmd_write_fn(const void *what, FILE *out);
int cmd_document(const char *path, cmd_write_fn *write, const void *what);

/* Writes a complete text to the file `path`.  Does nothing if `path` is NULL. */
int cmd_write_text(const char *path, const struct rd_buf *text);

/* For commands whose output is a single document.  Redirects standard output to the file `path`.
 * NULL and "-" leave it unchanged. */
int cmd_redirect(const char *path);

/* Writes the documents that the options request. */
int cmd_output_write(const struct finding_set *set, const struct report_opts *how);

/* If --coverage is given, writes a page that shows the orders of conflicting places that occurred
 * in `schedules` schedules. */
int cmd_write_coverage(const struct finding_set *set, const struct report_opts *how, uint64_t schedules);

/* Writes the findings as JSON. */
int cmd_write_findings(const char *path, const struct finding_set *set);

/* Marks findings that --baseline lists or --suppressions hides.  If `report_unused` is set, prints
 * the entries of both files that match no finding. */
int cmd_filter_apply(struct finding_set *set, bool report_unused);

/* Writes a file with the ids of the confirmed bugs that are not suppressed. */
int cmd_write_baseline(const struct finding_set *set, const char *path);

/* Writes rules that hide the confirmed findings that are neither known nor suppressed.  Does
 * nothing if `path` is NULL. */
int cmd_write_suppressions(const struct finding_set *set, const char *path);

/* Starts a progress line (base/progress.h), which --quiet leaves out. */
void cmd_progress_start(struct rd_progress *p, const char *what, uint64_t total);

/* Converts milliseconds to seconds, rounding up. */
uint64_t cmd_seconds(uint64_t ms);

#endif
