/* SPDX-License-Identifier: Apache-2.0 */
/* Choices of a run whose memory obeys a model (rt/core/control/choose.c). */
#ifndef RT_CHOOSE_H
#define RT_CHOOSE_H

#include "raddle/memory.h"
#include "rt/core/layer.h"

/* The plan; NULL: memory is what it is. */
struct raddle_memory *rt_memory_plan(void);

/* Which of c.from alternatives is taken, from 0.  `at` and `taken` are filled in here; `state` is a hash of
 * what the caller knows of the state, to which the layers add theirs. */
uint32_t rt_choose(struct raddle_choice c);

#endif
