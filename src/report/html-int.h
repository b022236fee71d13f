/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the HTML page; for use inside report/. */
#ifndef REPORT_HTML_INT_H
#define REPORT_HTML_INT_H

#include "base/buf.h"
#include "finding/bug.h"

#include <stdio.h>

/* Writes a text.  Escapes markup, and replaces invalid bytes and control characters. */
void html_text(FILE *out, const char *text);

/* Writes the source lines around a place.  Returns false if the source cannot be read. */
bool html_excerpt(FILE *out, const struct finding_frame *place, const char *root);

/* Draws the schedule of a finding, with a column for each thread. */
void html_schedule(FILE *out, const struct finding *f, size_t steps);

/* Writes the head of a bug; its findings follow. */
void html_bug(FILE *out, const struct finding_bug *bug, size_t number, const char *root);

/* Writes the beginning of every page, up to <body>; `style` is added to html_style. */
void html_head(FILE *out, const char *title, const char *style);

/* The style of all pages, the script of the findings page, and the script of the button with the ID
 * "theme". */
extern const char html_style[], html_script[], html_theme[];

#endif
