// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: in the order that creation and join enforce.
/* Only creation and join order the accesses to x. */
#include "case.h"

static int x;
THREAD(add)
{
	UNUSED;
	x++;
	return NULL;
}
int main(void)
{
	x = 1;
	join(start(add, NULL));
	x++;
	join(start(add, NULL));
	return x != 4;
}
