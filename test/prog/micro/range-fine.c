// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread is done before the other begins.
/* Two threads call memset() on adjacent ranges. */
#include "case.h"

static char buffer[256];
THREAD(front)
{
	memset(buffer, argument ? 1 : 2, 128);
	return NULL;
}
THREAD(back)
{
	memset(buffer + 128, argument ? 1 : 2, 128);
	return NULL;
}
int main(void)
{
	run_two(front, back);
	return buffer[0] == 0;
}
