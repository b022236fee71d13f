// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the copy is made before the element is written.
/* As in copy-race.c, but the written element is not in the part that is copied. */
#include "case.h"

static int from[64], to[64];
THREAD(copy)
{
	UNUSED;
	memcpy(to, from, sizeof to / 2);
	return NULL;
}
THREAD(set)
{
	UNUSED;
	from[40] = 1;
	return NULL;
}
int main(void)
{
	run_two(copy, set);
	return to[0];
}
