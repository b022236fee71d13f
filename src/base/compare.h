/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons for qsort(), member by member, and searches in sorted arrays. */
#ifndef BASE_COMPARE_H
#define BASE_COMPARE_H

#include <stddef.h>
#include <stdint.h>

/* For use in a comparison function.  Unless a and b are equal, makes that function return their
 * order. */
#define RD_BY(a, b)                                                                                          \
	do {                                                                                                 \
		if ((a) != (b))                                                                              \
			return (a) < (b) ? -1 : 1;                                                           \
	} while (0)

/* Defines a comparison function for arrays of `type`.  It compares by up to five members, in
 * order. */
#define RD_COMPARISON(name, type, ...)                                                                       \
	static int name(const void *left, const void *right)                                                 \
	{                                                                                                    \
		const type *a = left, *b = right;                                                            \
                                                                                                             \
		RD_BY_EACH(__VA_ARGS__, RD_BY_5, RD_BY_4, RD_BY_3, RD_BY_2, RD_BY_1, )                       \
		(__VA_ARGS__) return 0;                                                                      \
	}
#define RD_BY_EACH(m1, m2, m3, m4, m5, chosen, ...) chosen
#define RD_BY_1(m) RD_BY(a->m, b->m);
#define RD_BY_2(m, ...) RD_BY_1(m) RD_BY_1(__VA_ARGS__)
#define RD_BY_3(m, ...) RD_BY_1(m) RD_BY_2(__VA_ARGS__)
#define RD_BY_4(m, ...) RD_BY_1(m) RD_BY_3(__VA_ARGS__)
#define RD_BY_5(m, ...) RD_BY_1(m) RD_BY_4(__VA_ARGS__)

/* Moves `low` to the first index below `high` at which `before` is false, or to `high` if there is
 * no such index.  `before` is an expression in the index `middle`, which this macro declares.  It
 * must be true up to some index and false from there on. */
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

/* Returns the first index, from `low` on and below `high`, whose number is at least `value`.
 * Returns `high` if there is no such index. */
static inline size_t rd_lower_bound(const uint32_t *sorted, size_t low, size_t high, uint32_t value)
{
	RD_BISECT(low, high, i, sorted[i] < value);
	return low;
}

#endif
