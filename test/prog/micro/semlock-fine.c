// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread has posted before the second waits.
/* A semaphore is used as a lock; the accesses to x are inside its sections. */
#include "case.h"

static sem_t lock;
static int x;
THREAD(add)
{
	UNUSED;
	sem_wait(&lock);
	x++;
	sem_post(&lock);
	return NULL;
}
int main(void)
{
	sem_init(&lock, 0, 1);
	run_two(add, add);
	return x != 2;
}
