// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread is done before the second begins.
/* Two threads take two locks in the same order. */
#include "case.h"

MUTEX(a);
MUTEX(b);
static int x;
THREAD(both)
{
	UNUSED;
	LOCK(a);
	LOCK(b);
	x++;
	UNLOCK(b);
	UNLOCK(a);
	return NULL;
}
int main(void)
{
	run_two(both, both);
	return x != 2;
}
