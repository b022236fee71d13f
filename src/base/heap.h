/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A binary heap of numbers in the caller's array. heap[0] is the first number in the order.
 * `before` defines a strict order and is called with `context`.  All functions are inlined, so the
 * compiler can also inline a constant `before`.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef bool rd_before_fn(const void *context, uint32_t a, uint32_t b);

/* Places `item` at index `i` or below, so that the order holds.  Both subtrees of i must be
 * heaps. */
static inline __attribute__((always_inline)) void rd_heap_place(uint32_t *heap, size_t count, size_t i,
								uint32_t item, rd_before_fn *before,
								const void *context)
{
	for (size_t child = 2 * i + 1; child < count; child = 2 * i + 1) {
		if (child + 1 < count && before(context, heap[child + 1], heap[child]))
			child++;
		if (!before(context, heap[child], item))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = item;
}

/* Adds an item.  The array must have room for it. */
static inline __attribute__((always_inline)) void rd_heap_push(uint32_t *heap, size_t *count, uint32_t item,
							       rd_before_fn *before, const void *context)
{
	size_t i = (*count)++;

	for (; i > 0 && before(context, item, heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = item;
}

/* Removes the first item.  The heap must not be empty. */
static inline __attribute__((always_inline)) uint32_t rd_heap_pop(uint32_t *heap, size_t *count,
								  rd_before_fn *before, const void *context)
{
	uint32_t first = heap[0], last = heap[--*count];

	if (*count)
		rd_heap_place(heap, *count, 0, last, before, context);
	return first;
}

#endif
