/* SPDX-License-Identifier: Apache-2.0 */
/* A place in the source as users type it. */
#ifndef BASE_PLACE_H
#define BASE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

/* Parses a place in the source, FILE:LINE.  A column after the line, as compilers and debuggers
 * print it, is ignored.  The caller must free *file.  Returns false if `text` is NULL or has
 * another form. */
bool rd_place_parse(const char *text, char **file, uint32_t *line);

#endif
