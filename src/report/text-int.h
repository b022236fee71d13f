/* SPDX-License-Identifier: Apache-2.0 */
/* What the text reports of findings and of bugs share; for use inside report/. */
#ifndef REPORT_TEXT_INT_H
#define REPORT_TEXT_INT_H

#include "base/buf.h"
#include "report/report.h"

#include <stdio.h>

#define TEXT_WIDTH 80 /* the columns of a terminal */

/* Colours.  text_colour() returns the code, or "" if the user wants no colours. */
#define TEXT_RED "\033[1;31m"
#define TEXT_BLUE "\033[1;34m"
#define TEXT_BOLD "\033[1m"
#define TEXT_PLAIN "\033[0m"

struct printer {
	FILE *out;
	const struct finding_set *set;
	const struct report_opts *opts;
	struct rd_buf line;
	char *here; /* the current directory, followed by '/'; NULL if unknown */
};

struct printer text_begin(FILE *out, const struct finding_set *set, const struct report_opts *opts);
int text_finish(struct printer *p);
const char *text_colour(const struct printer *p, const char *code);

/* Prints p->line, broken at blanks, in a colour.  Its lines after the first are indented by two more
 * columns. */
void text_flush(struct printer *p, int indent, const char *code);

/* Returns the frame with a path relative to the current directory, if it is below that. */
struct finding_frame text_near(const struct printer *p, const struct finding_frame *f);

/* Prints a finding in full, in the layout of ThreadSanitizer. */
void text_finding(struct printer *p, const struct finding *f);

/* Appends to p->line "data race on hits: write at a.c:3 (add), read at a.c:9 (main)". */
void text_add_title(struct printer *p, const struct finding *f);

#endif
