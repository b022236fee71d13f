/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of lines that are separated by tabs, as site tables, schedules and job files have them.  A tab, a
 * newline and a backslash in a field are escaped by a backslash; a field that is empty or absent is "-".
 */
#ifndef BASE_FIELD_H
#define BASE_FIELD_H

#include "base/buf.h"

#include <stdbool.h>

#define RD_ABSENT "-"

/* Appends a tab and the text as a field.  NULL is the same as "". */
void rd_field_add(struct rd_buf *out, const char *text);

/* Undoes the escapes in place; false: there is a bad one. */
bool rd_field_undo(char *field);

#endif
