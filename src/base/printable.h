/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for terminals.  Names in programs, files and traces may contain control characters, which
 * could move the cursor, hide lines or answer for the user.  They are replaced by question marks.
 */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Replaces control characters in place, including those beyond ASCII in UTF-8.  If `lines` is true,
 * newlines and tabs are kept. */
void rd_make_printable(char *text, size_t length, bool lines);

/* Returns the length of the escape sequence at `text` if it is a colour that Raddle's reports use,
 * otherwise 0. */
size_t rd_colour_length(const char *text, size_t length);

#endif
