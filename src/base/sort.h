/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting a part of an array. */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>

/* Moves the `least` smallest elements to the front of the array, in order; the order of the others
 * is undefined.  Of equal elements, earlier ones count as smaller.  The function is fast if
 * `least` is small. */
void rd_sort_least(void *array, size_t count, size_t size, size_t least,
		   int (*compare)(const void *a, const void *b));

#endif
