/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether two accesses may race, assuming that they touch the same bytes.  An access is
 * represented by an instance, that is, the access in one thread.  The answer depends only on the
 * kinds of the two instances, so it is computed once for each pair of kinds.  A kind is a tuple of
 * CONFLICT_NUMBERS numbers.
 */
#ifndef CANDIDATES_CONFLICT_INT_H
#define CANDIDATES_CONFLICT_INT_H

#include "candidates/walk-int.h"

enum { CONFLICT_NUMBERS = 9 }; /* the size of the array that conflict_kind() fills */

bool conflict_may_race(const struct access_walk *w, const struct instance *x, const struct instance *y);
size_t conflict_kind(const struct access_walk *w, const struct instance *x,
		     uint32_t numbers[CONFLICT_NUMBERS]);

#endif
