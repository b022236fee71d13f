// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,b
// recorded: the first thread is done before the second begins.
/* Two semaphores are used as locks, and taken in opposite orders. */
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
	sem_init(&a, 0, 1);
	sem_init(&b, 0, 1);
	run_two(first, second);
	return 0;
}
