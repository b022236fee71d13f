/* SPDX-License-Identifier: Apache-2.0 */
/* Choices of a run whose memory obeys a model (rt/core/control/choose.c). */
#ifndef RT_CHOOSE_H
#define RT_CHOOSE_H

#include "raddle/memory.h"
#include "rt/core/layer.h"

/* Returns the plan, or NULL if no memory model is used. */
struct raddle_memory *rt_memory_plan(void);

/* Returns which of c.from alternatives is taken, counted from 0.  The function fills in `at` and
 * `taken`.  `state` is a hash of the caller's state, to which the layers add hashes of theirs. */
uint32_t rt_choose(struct raddle_choice c);

#endif
