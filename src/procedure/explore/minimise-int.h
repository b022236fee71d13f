/* SPDX-License-Identifier: Apache-2.0 */
/* Inside explore/: as few decisions as show a failure. */
#ifndef EXPLORE_MINIMISE_INT_H
#define EXPLORE_MINIMISE_INT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether it fails with just these of the decisions, whose positions ascend. */
typedef bool minimise_fn(void *context, const size_t *kept, size_t count);

/* Leaves out of `kept`, which has `count` positions with which it fails, what is not needed: in the end none
 * of them alone can be left out, unless `budget` tests were made before.  Returns how many are left. */
size_t minimise(size_t *kept, size_t count, minimise_fn *fails, void *context, unsigned budget);

#endif
