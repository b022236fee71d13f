// SPDX-License-Identifier: Apache-2.0
// expect: race data
// recorded: each thread is done before the next one starts.
/* As in lentlock-fine.c, but the second thread unlocks the mutex before it changes the data. */
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
	UNLOCK(m);
	data++;
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
