// SPDX-License-Identifier: Apache-2.0
// expect: race from[]
// recorded: the copy is made before the element is written.
/* One thread copies an array while another may write an element of it. */
#include "case.h"

static int from[64], to[64];
THREAD(copy)
{
	UNUSED;
	memcpy(to, from, sizeof to);
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
