// SPDX-License-Identifier: Apache-2.0
/*
 * Sorts a part of an array.  In: an array, and how many of its smallest elements are wanted.  Out: the
 * array with these elements at the front.
 *
 * Invariant: the first `sorted` elements are the smallest of those examined so far, in order.
 */
#include "base/sort.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Moves element `from` down to position `to`, and the elements between the two up by one. */
static void move_down(char *array, size_t size, size_t from, size_t to, char *room)
{
	memcpy(room, array + from * size, size);
	memmove(array + (to + 1) * size, array + to * size, (from - to) * size);
	memcpy(array + to * size, room, size);
}

static void swap(char *a, char *b, size_t size, char *room)
{
	memcpy(room, a, size);
	memcpy(a, b, size);
	memcpy(b, room, size);
}

void rd_sort_least(void *array, size_t count, size_t size, size_t least,
		   int (*compare)(const void *a, const void *b))
{
	char *at = array, *room = rd_xcalloc(1, size);
	size_t sorted = 0, to;

	for (size_t i = 0; i < count && least; i++) {
		if (sorted == least && compare(at + i * size, at + (sorted - 1) * size) >= 0)
			continue;
		if (sorted < least)
			sorted++;
		if (i >= sorted)
			swap(at + i * size, at + (sorted - 1) * size, size, room);
		for (to = sorted - 1; to && compare(at + (sorted - 1) * size, at + (to - 1) * size) < 0; to--)
			;
		move_down(at, size, sorted - 1, to, room);
	}
	free(room);
}
