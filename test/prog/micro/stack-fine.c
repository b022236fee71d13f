// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: in the order that the join enforces.
/* A thread writes a variable on main's stack, which main reads after the join. */
#include "case.h"

THREAD(set)
{
	*(int *)argument = 7;
	return NULL;
}
int main(void)
{
	int local = 0;

	join(start(set, &local));
	return local != 7;
}
