/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for terminals.  Programs, files and traces name things as they like, and a name with control
 * characters in it could move the cursor, hide lines or answer for the user.  They are shown as question
 * marks.
 */
#ifndef BASE_SHOWN_H
#define BASE_SHOWN_H

#include <stdbool.h>
#include <stddef.h>

/* Replaces control characters, those beyond ASCII in UTF-8 as well; with `lines` newlines and tabs stay. */
void rd_shown(char *text, size_t length, bool lines);

/* How many bytes from `text` on are one of the colours that our own reports use; 0: none. */
size_t rd_shown_colour(const char *text, size_t length);

#endif
