/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks findings by their classes. */
#ifndef FINDING_RANK_H
#define FINDING_RANK_H

#include "finding/finding.h"

/* Returns true if the set contains a finding that is confirmed, is neither known nor suppressed,
 * and is at least as bad as `class`.  Deadlocks, failures and races of unknown class are always
 * bad enough.  If `class` is FINDING_NO_CLASS, every finding is bad enough. */
bool finding_any_as_bad(const struct finding_set *set, enum finding_class class);

/* Sorts the findings within each status, so that the worst comes first. */
void finding_sort_by_class(struct finding_set *set);

#endif
