/* SPDX-License-Identifier: Apache-2.0 */
/* Finds operations that depend on each other even though they touch no recorded memory. */
#ifndef REVERSIBLE_DEPEND_INT_H
#define REVERSIBLE_DEPEND_INT_H

#include "reversible/shadow.h"

/* Adds the pairs of dependent operations to the pairs of the shadow memory. */
void rev_depend(const struct rev_run *run, struct rev_shadow *shadow);

#endif
