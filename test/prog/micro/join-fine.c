// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: in the order that creation and join enforce.
/* Ordered by creation and join alone. */
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
