// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the writer is done before the reader looks.
/* A sequence lock protects atomic data. */
#include "case.h"

static atomic_uint sequence;
static atomic_int data;
THREAD(set)
{
	UNUSED;
	atomic_fetch_add(&sequence, 1);
	atomic_store(&data, 7);
	atomic_fetch_add(&sequence, 1);
	return NULL;
}
THREAD(look)
{
	UNUSED;
	unsigned before;
	int seen;

	do {
		before = atomic_load(&sequence);
		seen = atomic_load(&data);
	} while (before % 2 || before != atomic_load(&sequence));
	return seen < 0 ? argument : NULL;
}
int main(void)
{
	run_two(set, look);
	return 0;
}
