/* SPDX-License-Identifier: Apache-2.0 */
/* Choices of a run whose memory obeys a model (rt/core/control/choose.c). */
#ifndef RT_CHOOSE_H
#define RT_CHOOSE_H

#include "raddle/memory.h"
#include "rt/core/layer.h"

/* The plan; NULL: there is no memory model. */
struct raddle_memory *rt_memory_plan(void);

/* Which of c.from alternatives is taken, counted from 0.  The function fills in `at` and `taken`.
 * `state` is a hash of the state that the caller knows; the layers add theirs. */
uint32_t rt_choose(struct raddle_choice c);

#endif
