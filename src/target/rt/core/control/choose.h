/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the choices of a run with a memory model (rt/core/control/choose.c). */
#ifndef RT_CHOOSE_H
#define RT_CHOOSE_H

#include "raddle/memory.h"
#include "rt/core/layer.h"

/* Returns the plan, or NULL if no memory model is used. */
struct raddle_memory *rt_memory_plan(void);

/* Chooses one of c.from alternatives and returns its number, counted from 0.  The caller leaves
 * `at` and `taken` unset; they are filled in when the choice is listed.  c.state is a hash of the
 * caller's state, to which each layer adds a hash of its own state. */
uint32_t rt_choose(struct raddle_choice c);

#endif
