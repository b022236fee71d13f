// SPDX-License-Identifier: Apache-2.0
// expect: race slot
// recorded: in the order that the semaphores enforce.
/* The semaphore admits two items, but there is only one slot. */
#include "case.h"

static sem_t full, empty;
static int slot;
THREAD(produce)
{
	UNUSED;
	for (int i = 0; i < 3; i++) {
		sem_wait(&empty);
		slot = i;
		sem_post(&full);
	}
	return NULL;
}
THREAD(consume)
{
	UNUSED;
	for (int i = 0; i < 3; i++) {
		sem_wait(&full);
		if (slot < 0)
			abort();
		sem_post(&empty);
	}
	return NULL;
}
int main(void)
{
	sem_init(&full, 0, 0);
	sem_init(&empty, 0, 2);
	run_two(produce, consume);
	return 0;
}
