// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,b
// status: 142
// recorded: the program hangs for certain; an alarm ends it.
/* The program hangs for certain.  An alarm, restarted when the second thread arrives, ends it. */
#include "case.h"

MUTEX(a);
MUTEX(b);
static pthread_barrier_t both;
THREAD(second)
{
	UNUSED;
	LOCK(b);
	pthread_barrier_wait(&both);
	alarm(1);
	LOCK(a);
	return NULL;
}
int main(void)
{
	pthread_barrier_init(&both, NULL, 2);
	start(second, NULL);
	LOCK(a);
	pthread_barrier_wait(&both);
	alarm(1);
	LOCK(b);
	return 0;
}
