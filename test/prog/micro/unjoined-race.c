// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the first thread is done before the second starts; main does not join the second.
/* The program may end before the second thread has written x. */
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
	x = 2;
	return NULL;
}
int main(void)
{
	start_settled(first, NULL);
	start(second, NULL);
	return 0;
}
