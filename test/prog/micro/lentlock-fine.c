// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: each thread is done before the next one starts.
/* One thread locks the mutex, a second unlocks it in its place, and a third uses the data. */
#include "case.h"

MUTEX(m);
static sem_t full;
static int data;
THREAD(fill)
{
	LOCK(m);
	data = 7;
	sem_post(&full);
	return argument;
}
THREAD(empty)
{
	sem_wait(&full);
	data++;
	UNLOCK(m);
	return argument;
}
THREAD(look)
{
	LOCK(m);
	data++;
	UNLOCK(m);
	return argument;
}
int main(void)
{
	sem_init(&full, 0, 0);
	run_three(fill, empty, look);
	return 0;
}
