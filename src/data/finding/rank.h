/* SPDX-License-Identifier: Apache-2.0 */
/* How bad findings are, by their classes. */
#ifndef FINDING_RANK_H
#define FINDING_RANK_H

#include "finding/finding.h"

/* Whether the set has a confirmed finding, neither known nor hidden, that is at least as bad as
 * `class`.  With FINDING_NO_CLASS any such finding will do.  Deadlocks, failures and races of
 * unknown class always count. */
bool finding_any_as_bad(const struct finding_set *set, enum finding_class class);

/* The worst first, within each status. */
void finding_sort_by_class(struct finding_set *set);

#endif
