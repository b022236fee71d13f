// SPDX-License-Identifier: Apache-2.0
// recorded: the first thread is done before the second starts; main does not join the second.
/* As in unjoined-race.c, but both threads write x under the lock. */
#include "case.h"

MUTEX(m);
static int x;
THREAD(first)
{
	UNUSED;
	LOCK(m);
	x = 1;
	UNLOCK(m);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	LOCK(m);
	x = 2;
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	start_settled(first, NULL);
	start(second, NULL);
	return 0;
}
