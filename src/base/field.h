/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tab-separated fields of a line, as in site tables, schedules and job files.  A backslash escapes
 * tabs, newlines and backslashes in a field.  An empty or absent field is written as "-"; the text
 * "-" itself is written as "\-".
 */
#ifndef BASE_FIELD_H
#define BASE_FIELD_H

#include "base/buf.h"

#include <stdbool.h>

#define RD_ABSENT "-"

/* Appends a tab and the text as a field.  NULL is the same as "". */
void rd_field_add(struct rd_buf *out, const char *text);

/* Undoes the escapes in place.  Returns false if an escape is invalid. */
bool rd_field_undo(char *field);

#endif
