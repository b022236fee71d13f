// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread is done before the other begins.
/* Accesses to neighbouring bytes of one word do not race. */
#include "case.h"

static struct {
	char left, right;
	short other;
} near;
THREAD(set_left)
{
	UNUSED;
	near.left = 1;
	near.other = 3;
	return NULL;
}
THREAD(set_right)
{
	UNUSED;
	near.right = 1;
	return NULL;
}
int main(void)
{
	run_two(set_left, set_right);
	return near.left + near.right + near.other != 5;
}
