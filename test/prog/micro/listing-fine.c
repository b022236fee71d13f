// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: main's section comes before the task's.
/* Listing 1 of Carril and Tichy (2015), with y inside the sections. */
#include "case.h"

MUTEX(m);
static int x, y;
THREAD(task)
{
	UNUSED;
	settle();
	LOCK(m);
	x++;
	y++;
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	y++;
	pthread_t t = start(task, NULL);
	LOCK(m);
	y++;
	x++;
	UNLOCK(m);
	join(t);
	return x == 0;
}
