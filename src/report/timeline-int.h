/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines as text; for use inside report/. */
#ifndef REPORT_TIMELINE_INT_H
#define REPORT_TIMELINE_INT_H

#include "finding/timeline.h"

#include <stdio.h>

/* Prints a timeline with a column for each thread, at most 80 columns wide.  `f` has the names of the
 * threads, and `near` is the file whose name is left out.  Source files are relative to `root`, or to
 * the current directory if it is NULL.  Prints nothing if there are no steps. */
void timeline_print(const struct finding_timeline *t, const struct finding *f, const char *near,
		    const char *root, FILE *out);

/* Returns the source line of a place without the blanks around it, or an empty text if it cannot be
 * read.  The caller frees it. */
char *timeline_source(const struct finding_frame *place, const char *root);

#endif
