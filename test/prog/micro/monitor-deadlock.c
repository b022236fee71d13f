// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,c
// recorded: the notifier has released a before the waiter takes it.
/* Nested monitors: a thread waits for a condition while it holds a lock that the notifier needs. */
#include "case.h"

MUTEX(a);
MUTEX(m);
COND(c);
static sem_t go;
static int ready;
THREAD(tell)
{
	UNUSED;
	LOCK(a);
	UNLOCK(a);
	sem_wait(&go);
	LOCK(m);
	ready = 1;
	pthread_cond_signal(&c);
	UNLOCK(m);
	return NULL;
}
THREAD(await)
{
	UNUSED;
	LOCK(a);
	LOCK(m);
	while (!ready)
		pthread_cond_wait(&c, &m);
	UNLOCK(m);
	UNLOCK(a);
	return NULL;
}
int main(void)
{
	sem_init(&go, 0, 0);
	pthread_t a = start_settled(tell, NULL), b = start_settled(await, NULL);
	sem_post(&go);
	join(a);
	join(b);
	return 0;
}
