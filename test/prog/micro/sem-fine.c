// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: in the order that the semaphores enforce.
/* One semaphore hands the slot to the consumer, the other hands it back. */
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
		if (slot != i)
			abort();
		sem_post(&empty);
	}
	return NULL;
}
int main(void)
{
	sem_init(&full, 0, 0);
	sem_init(&empty, 0, 1);
	run_two(produce, consume);
	return 0;
}
