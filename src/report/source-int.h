/* SPDX-License-Identifier: Apache-2.0 */
/* Source files, which may be missing or may have changed since the build; for use inside
 * report/. */
#ifndef REPORT_SOURCE_INT_H
#define REPORT_SOURCE_INT_H

#include "base/buf.h"
#include "finding/finding.h"

#include <stdio.h>

/* Reads a regular file of at most `max` bytes without NULs; returns whether it could. */
bool source_read(const char *path, size_t max, struct rd_buf *text);

/* Reads the file of a place; returns whether it succeeded.  Relative names are below `root`; NULL
 * means the current directory. */
bool source_of(const struct finding_frame *place, const char *root, struct rd_buf *text);

/* The line with that number, counted from 1; NULL if there is none. */
const char *source_line(const char *text, size_t number);

/* Quotes the line of a place as compilers do, with a caret under its column, indented by `indent`
 * spaces and cut at `width` columns.  Writes nothing if the line cannot be read. */
void source_quote(FILE *out, const struct finding_frame *place, const char *root, int indent, int width);

#endif
