// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the second thread tries while the first holds the lock.
/* The thread accesses the data even if trylock failed. */
#include "case.h"

MUTEX(m);
static sem_t tried;
static int x;
THREAD(keep)
{
	UNUSED;
	LOCK(m);
	x++;
	sem_wait(&tried);
	UNLOCK(m);
	return NULL;
}
THREAD(add)
{
	UNUSED;
	bool got = pthread_mutex_trylock(&m) == 0;
	x++;
	if (got)
		UNLOCK(m);
	sem_post(&tried);
	return NULL;
}
int main(void)
{
	sem_init(&tried, 0, 0);
	run_two(keep, add);
	return x < 1;
}
