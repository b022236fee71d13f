/* SPDX-License-Identifier: Apache-2.0 */
/* Inside explore/: before a failure is reported, it is minimised and repeated. */
#ifndef EXPLORE_REPEAT_INT_H
#define EXPLORE_REPEAT_INT_H

#include "explore/state-int.h"

/* Repeats the failures of the state that it has not repeated yet, and adds those that happen again to
 * the set. */
int repeat_failures(struct explore_state *s, struct finding_set *set, struct rd_arena *arena);

#endif
