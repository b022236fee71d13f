/* SPDX-License-Identifier: Apache-2.0 */
/* Order: comparisons for qsort(), member by member, and a search in what is sorted. */
#ifndef BASE_COMPARE_H
#define BASE_COMPARE_H

#include <stddef.h>
#include <stdint.h>

/* In a function that compares: if the two differ, they decide. */
#define RD_BY(a, b)                                                                                          \
	do {                                                                                                 \
		if ((a) != (b))                                                                              \
			return (a) < (b) ? -1 : 1;                                                           \
	} while (0)

/* The first place from `low` up to `high` whose number is not less than `value`; `high` if there is none. */
static inline size_t rd_lower_bound(const uint32_t *sorted, size_t low, size_t high, uint32_t value)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sorted[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
