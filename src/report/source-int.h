/* SPDX-License-Identifier: Apache-2.0 */
/* Source files, which may be missing or may have changed since the build; for use inside
 * report/. */
#ifndef REPORT_SOURCE_INT_H
#define REPORT_SOURCE_INT_H

#include "base/buf.h"
#include "finding/finding.h"

#include <stdio.h>

/* Reads a regular file of at most `max` bytes.  Returns false if that fails, or if the file
 * contains a NUL. */
bool source_read(const char *path, size_t max, struct rd_buf *text);

/* Reads the source file of a place.  Returns false if that fails.  Relative names are relative to
 * `root`, or to the current directory if `root` is NULL. */
bool source_of(const struct finding_frame *place, const char *root, struct rd_buf *text);

/* Returns the line with that number, counted from 1, or NULL if there is none. */
const char *source_line(const char *text, size_t number);

/* Writes the source line of a place as compilers do, with a caret under its column.  Both lines are
 * indented by `indent` spaces and cut at `width` columns.  Writes nothing if the line cannot be
 * read. */
void source_quote(FILE *out, const struct finding_frame *place, const char *root, int indent, int width);

#endif
