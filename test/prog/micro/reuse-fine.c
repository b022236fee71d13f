// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread has freed its block before the other allocates one.
/* A block is freed, and its memory is allocated again by another thread. */
#include "case.h"

THREAD(use)
{
	UNUSED;
	int *p = malloc(40);
	memset(p, 1, 40);
	int sum = p[3];
	free(p);
	return sum ? NULL : argument;
}
int main(void)
{
	run_two(use, use);
	return 0;
}
