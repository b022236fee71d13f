// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,b
// status: 142
// recorded: hangs for certain; an alarm ends it.
/* Hangs for certain; an alarm ends it. */
#include "case.h"

MUTEX(a);
MUTEX(b);
static pthread_barrier_t both;
THREAD(second)
{
	UNUSED;
	LOCK(b);
	pthread_barrier_wait(&both);
	LOCK(a);
	return NULL;
}
int main(void)
{
	alarm(1);
	pthread_barrier_init(&both, NULL, 2);
	start(second, NULL);
	LOCK(a);
	pthread_barrier_wait(&both);
	LOCK(b);
	return 0;
}
