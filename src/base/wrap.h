/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences for terminals, wrapped at blanks. */
#ifndef BASE_WRAP_H
#define BASE_WRAP_H

#include <stddef.h>
#include <stdio.h>

/* Prints a text whose lines begin at column `indent`.  `column` is the current column of the
 * cursor.  It is greater than `indent` if other words precede the text in its first line.  A word
 * that is longer than a line is not split. */
void rd_wrap(const char *text, size_t indent, size_t column, FILE *out);

#endif
