// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the first thread has posted before the second waits.
/* As in sections-race.c, but a semaphore is used as the lock. */
#include "case.h"

static sem_t lock;
static int x, y;
THREAD(first)
{
	UNUSED;
	x = 1;
	sem_wait(&lock);
	y = 1;
	sem_post(&lock);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	sem_wait(&lock);
	y = 2;
	sem_post(&lock);
	x = 2;
	return NULL;
}
int main(void)
{
	sem_init(&lock, 0, 1);
	run_two(first, second);
	return x + y == 0;
}
