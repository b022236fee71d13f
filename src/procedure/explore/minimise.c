// SPDX-License-Identifier: Apache-2.0
/*
 * Minimises a set of indices.  In: indices, and a test.  Out: a smaller set that still passes the
 * test.
 *
 * The algorithm tries to leave out pieces of the set: first all indices, then halves, then smaller
 * pieces, down to single indices.  A piece is removed only if the rest still passes the test.  So
 * if all indices together pass it, the result does too.
 */
#include "explore/minimise-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Copies `kept` without the range [from, from + length) to `rest`.  Returns the number of indices
 * copied. */
static size_t without(const size_t *kept, size_t count, size_t from, size_t length, size_t *rest)
{
	RD_ASSERT(length > 0 && from + length <= count);
	if (from)
		memcpy(rest, kept, from * sizeof *rest);
	if (from + length < count)
		memcpy(rest + from, kept + from + length, (count - from - length) * sizeof *rest);
	return count - length;
}

size_t minimise(size_t *kept, size_t count, minimise_fn *fails, void *context, unsigned budget)
{
	size_t *rest = rd_xcalloc(count + 1, sizeof *rest);
	size_t size = count;

	while (size && count && budget) {
		bool any = false;

		for (size_t from = 0; from < count && budget;) {
			size_t length = size < count - from ? size : count - from;
			size_t left = without(kept, count, from, length, rest);

			budget--;
			if (fails(context, rest, left)) {
				memcpy(kept, rest, left * sizeof *kept);
				count = left;
				any = true;
			} else {
				from += length;
			}
		}
		if (size == 1 && !any)
			break;
		size = size > 1 ? size / 2 : 1;
	}
	free(rest);
	return count;
}
