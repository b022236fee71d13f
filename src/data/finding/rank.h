/* SPDX-License-Identifier: Apache-2.0 */
/* How bad findings are, by their classes. */
#ifndef FINDING_RANK_H
#define FINDING_RANK_H

#include "finding/finding.h"

/* Whether a confirmed finding that is neither known nor hidden is as bad as `class`;
 * FINDING_NO_CLASS: any finding is.  Deadlocks and failures always are, and so is a race whose
 * class is unknown. */
bool finding_any_as_bad(const struct finding_set *set, enum finding_class class);

/* The worst first, within each status. */
void finding_sort_by_class(struct finding_set *set);

#endif
