// SPDX-License-Identifier: Apache-2.0
// expect: race data 1 speculative
// recorded: the writer is done before the reader looks.
/* As in seqlock-fine.c, but the data are not atomic, and the sequence has relaxed order. */
#include "case.h"

static atomic_uint sequence;
static int data;
THREAD(set)
{
	UNUSED;
	atomic_fetch_add_explicit(&sequence, 1, memory_order_relaxed);
	data = 7;
	atomic_fetch_add_explicit(&sequence, 1, memory_order_relaxed);
	return NULL;
}
THREAD(look)
{
	UNUSED;
	unsigned before;
	int seen;

	do {
		before = atomic_load_explicit(&sequence, memory_order_relaxed);
		seen = data;
	} while (before % 2 || before != atomic_load_explicit(&sequence, memory_order_relaxed));
	return seen < 0 ? argument : NULL;
}
int main(void)
{
	run_two(set, look);
	return 0;
}
