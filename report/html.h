/* SPDX-License-Identifier: Apache-2.0 */
/* Inside report/: the parts of the HTML page. */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include "finding/finding.h"

#include <stdio.h>

/* Text with markup characters escaped, bad bytes and control characters replaced. */
void html_text(FILE *out, const char *text);

/* The lines around a place, if its source can be read; whether it could. */
bool html_excerpt(FILE *out, const struct finding_frame *place, const char *root);

/* The schedule of a finding as thread columns. */
void html_schedule(FILE *out, const struct finding *f, size_t steps);

/* What the page looks like, and what it does. */
extern const char html_style[], html_script[];

#endif
