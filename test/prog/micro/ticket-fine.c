// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread has counted before the second does.
/* Only the thread that increments the counter second writes x. */
#include "case.h"

static atomic_int count;
static int x;
THREAD(turn)
{
	UNUSED;
	if (atomic_fetch_add(&count, 1) == 1)
		x = 2;
	return NULL;
}
int main(void)
{
	run_two(turn, turn);
	return x != 2;
}
