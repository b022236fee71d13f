// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread is done before the second begins.
/* As in semorder-deadlock.c, but one of the semaphores admits two threads. */
#include "case.h"

static sem_t a, b;
THREAD(first)
{
	UNUSED;
	sem_wait(&a);
	sem_wait(&b);
	sem_post(&b);
	sem_post(&a);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	sem_wait(&b);
	sem_wait(&a);
	sem_post(&a);
	sem_post(&b);
	return NULL;
}
int main(void)
{
	sem_init(&a, 0, 2);
	sem_init(&b, 0, 1);
	run_two(first, second);
	return 0;
}
