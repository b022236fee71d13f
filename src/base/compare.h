/* SPDX-License-Identifier: Apache-2.0 */
/* Order: comparisons for qsort(), member by member, and searches in what is sorted. */
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

/* Moves the variable `low` to the first place below `high` for which `before` is false, or to `high`.
 * `before` is an expression in `middle`, which this macro declares; it is true up to some place and false
 * from there on. */
#define RD_BISECT(low, high, middle, before)                                                                 \
	do {                                                                                                 \
		size_t rd_end = (high);                                                                      \
		while ((low) < rd_end) {                                                                     \
			size_t middle = (low) + (rd_end - (low)) / 2;                                        \
			if (before)                                                                          \
				(low) = middle + 1;                                                          \
			else                                                                                 \
				rd_end = middle;                                                             \
		}                                                                                            \
	} while (0)

/* The first place from `low` up to `high` whose number is not less than `value`; `high` if there is none. */
static inline size_t rd_lower_bound(const uint32_t *sorted, size_t low, size_t high, uint32_t value)
{
	RD_BISECT(low, high, i, sorted[i] < value);
	return low;
}

#endif
