/* SPDX-License-Identifier: Apache-2.0 */
/* Inside report/: source files, which may be missing, changed, or something else by now. */
#ifndef REPORT_SOURCE_H
#define REPORT_SOURCE_H

#include "base/buf.h"
#include "finding/finding.h"

#include <stdio.h>

/* The contents of a file as text, if it is an ordinary one of at most `max` bytes without
 * NULs; whether it is. */
bool source_read(const char *path, size_t max, struct rd_buf *text);

/* The file of a place; whether it can be read.  A relative name is one below `root`, NULL: here. */
bool source_of(const struct finding_frame *place, const char *root, struct rd_buf *text);

/* The line with that number, from 1, or NULL. */
const char *source_line(const char *text, size_t number);

/* Writes the line of a place as compilers do, with a mark under its column, `indent` blanks before it and
 * nothing beyond `width` columns; nothing if it cannot be read. */
void source_quote(FILE *out, const struct finding_frame *place, const char *root, int indent, int width);

#endif
