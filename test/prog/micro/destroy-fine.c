// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the worker is done with the mutex before it is destroyed.
/* As in destroy-race.c, but the mutex is destroyed after the join. */
#include "case.h"

static pthread_mutex_t m;
static int x;
THREAD(work)
{
	UNUSED;
	LOCK(m);
	x++;
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	pthread_t worker;

	pthread_mutex_init(&m, NULL);
	worker = start_settled(work, NULL);
	LOCK(m);
	x++;
	UNLOCK(m);
	join(worker);
	pthread_mutex_destroy(&m);
	return x != 2;
}
