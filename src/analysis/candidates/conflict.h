/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether two instances of accesses, if they touch the same bytes, may race.  The answer depends on the kind
 * of each instance only, which is a few numbers; so it is worked out once for each pair of kinds.
 */
#ifndef CANDIDATES_CONFLICT_H
#define CANDIDATES_CONFLICT_H

#include "candidates/walk.h"

enum { CONFLICT_NUMBERS = 9 };

bool conflict_may_race(const struct walk *w, const struct instance *x, const struct instance *y);
size_t conflict_kind(const struct walk *w, const struct instance *x, uint32_t numbers[CONFLICT_NUMBERS]);

#endif
