/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the status document of a hive (doc/format/hive.md) to people. */
#ifndef HIVE_STATUS_TEXT_H
#define HIVE_STATUS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Prints programs, sketches, proven races and the first few of the other races.  If `all` is set,
 * prints all races.  Stores the number of proven races in *found.  If `out` is NULL, counts them
 * without printing anything. */
int hive_status_text(const char *document, size_t length, bool all, FILE *out, size_t *found);

#endif
