/* SPDX-License-Identifier: Apache-2.0 */
/* Inside explore/: failures are run again before they are reported, with as few decisions as show them. */
#ifndef EXPLORE_REPEAT_INT_H
#define EXPLORE_REPEAT_INT_H

#include "explore/state-int.h"

/* Adds each failure of the state that happens again to the set. */
int repeat_failures(const struct explore_state *s, struct finding_set *set, struct rd_arena *arena);

#endif
