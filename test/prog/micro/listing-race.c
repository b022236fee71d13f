// SPDX-License-Identifier: Apache-2.0
// expect: race y 1 speculative
// recorded: main's section comes before the task's, which orders the accesses to y.
/* Listing 1 of Carril and Tichy (2015), as printed. */
#include "case.h"

MUTEX(m);
static int x, y;
THREAD(task)
{
	UNUSED;
	settle();
	LOCK(m);
	x++;
	UNLOCK(m);
	y++;
	return NULL;
}
int main(void)
{
	y++;
	pthread_t t = start(task, NULL);
	y++;
	LOCK(m);
	x++;
	UNLOCK(m);
	join(t);
	return x == 0;
}
