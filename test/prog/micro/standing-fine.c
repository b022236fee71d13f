// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: both meet at the barrier, as they must.
/* As in standing-deadlock, but the locks are left before the others are wanted. */
#include "case.h"

MUTEX(a);
MUTEX(b);
static pthread_barrier_t both;
THREAD(second)
{
	UNUSED;
	LOCK(b);
	pthread_barrier_wait(&both);
	UNLOCK(b);
	LOCK(a);
	UNLOCK(a);
	return NULL;
}
int main(void)
{
	alarm(300);
	pthread_barrier_init(&both, NULL, 2);
	pthread_t t = start(second, NULL);
	LOCK(a);
	pthread_barrier_wait(&both);
	UNLOCK(a);
	LOCK(b);
	UNLOCK(b);
	join(t);
	return 0;
}
