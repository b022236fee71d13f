// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: in the order that creation and join enforce.
/* Two threads lock in opposite orders, but creation and join keep them from overlapping. */
#include "case.h"

MUTEX(a);
MUTEX(b);
THREAD(first)
{
	UNUSED;
	LOCK(a);
	LOCK(b);
	UNLOCK(b);
	UNLOCK(a);
	return NULL;
}
int main(void)
{
	join(start(first, NULL));
	LOCK(b);
	LOCK(a);
	UNLOCK(a);
	UNLOCK(b);
	join(start(first, NULL));
	return 0;
}
