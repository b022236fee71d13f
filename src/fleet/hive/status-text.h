/* SPDX-License-Identifier: Apache-2.0 */
/* The status document of a hive (doc/format/hive.md) for people. */
#ifndef HIVE_STATUS_TEXT_H
#define HIVE_STATUS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Of races that are not proven the first ones, unless `all`.  *found counts those that are; without
 * `out` (NULL) they are only counted. */
int hive_status_text(const char *document, size_t length, bool all, FILE *out, size_t *found);

#endif
