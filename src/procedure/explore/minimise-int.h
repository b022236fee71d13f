/* SPDX-License-Identifier: Apache-2.0 */
/* Inside explore/: removes the decisions that a failure does not need. */
#ifndef EXPLORE_MINIMISE_INT_H
#define EXPLORE_MINIMISE_INT_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if the program fails with only these decisions.  `kept` contains their indices in
 * ascending order. */
typedef bool minimise_fn(void *context, const size_t *kept, size_t count);

/* Removes from `kept`, which has `count` entries, the indices of decisions that the failure does
 * not need.  At the end, no single decision can be left out, unless `budget` tests were used up
 * first.  Returns how many indices are left. */
size_t minimise(size_t *kept, size_t count, minimise_fn *fails, void *context, unsigned budget);

#endif
