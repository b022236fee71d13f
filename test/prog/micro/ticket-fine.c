// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: first has counted before second counts.
/* The second thread that counts may write. */
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
