// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the grandchild is done before main writes.
/* The child joins the thread that it starts. */
#include "case.h"

static int x;
THREAD(grandchild)
{
	UNUSED;
	x = 1;
	return NULL;
}
THREAD(child)
{
	UNUSED;
	join(start(grandchild, NULL));
	return NULL;
}
int main(void)
{
	join(start(child, NULL));
	x = 2;
	return 0;
}
