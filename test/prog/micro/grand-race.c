// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the grandchild is done before main writes.
/* A child starts a thread and does not join it; main joins only the child. */
#include "case.h"

static int x;
static pthread_t deep;
THREAD(grandchild)
{
	UNUSED;
	x = 1;
	return NULL;
}
THREAD(child)
{
	UNUSED;
	deep = start_settled(grandchild, NULL);
	return NULL;
}
int main(void)
{
	join(start(child, NULL));
	x = 2;
	join(deep);
	return 0;
}
