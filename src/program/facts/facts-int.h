/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of facts/ share. */
#ifndef FACTS_FACTS_INT_H
#define FACTS_FACTS_INT_H

#include "facts/layout.h"

/* Replaces a table by `count` rows of zeros. */
void *facts_make_rows(struct facts *f, enum facts_table table, size_t count);

/* Checks that every row number refers to an existing row, and that ranges of rows do not
 * overlap. */
int facts_check(const struct facts *f, const char *name);

#endif
