// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: there is only one thread.
/* A single thread may take locks in any order. */
#include "case.h"

MUTEX(a);
MUTEX(b);
THREAD(alone)
{
	UNUSED;
	LOCK(a);
	LOCK(b);
	UNLOCK(b);
	UNLOCK(a);
	LOCK(b);
	LOCK(a);
	UNLOCK(a);
	UNLOCK(b);
	return NULL;
}
int main(void)
{
	join(start(alone, NULL));
	return 0;
}
