/* SPDX-License-Identifier: Apache-2.0 */
/* Inside explore/: before a failure is reported, it is minimised and repeated. */
#ifndef EXPLORE_REPEAT_INT_H
#define EXPLORE_REPEAT_INT_H

#include "explore/state-int.h"

/* Tries to reproduce the failures in `s` that have not been repeated yet.  Failures that happen
 * again are added to the set. */
int repeat_failures(struct explore_state *s, struct finding_set *set, struct rd_arena *arena);

#endif
