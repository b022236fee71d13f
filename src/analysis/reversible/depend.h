/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that depend on one another although they touch no memory that is recorded. */
#ifndef REVERSIBLE_DEPEND_H
#define REVERSIBLE_DEPEND_H

#include "reversible/shadow.h"

/* Adds their pairs to the shadow's. */
void rev_depend(const struct rev_run *run, struct rev_shadow *shadow);

#endif
