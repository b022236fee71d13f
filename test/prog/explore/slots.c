// SPDX-License-Identifier: Apache-2.0
/* Two producers share a ring that uses only atomic operations.
 * Both write the same slot if one reads the head between the
 * other's load and store.  With the argument "taken" each producer
 * takes its own slot. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 10, SLOTS = 64 };

static int slots[SLOTS], taken;
static atomic_uint head;

static void put(int value)
{
	unsigned at = taken ? atomic_fetch_add(&head, 1) : atomic_load(&head);

	slots[at % SLOTS] = value;
	if (!taken)
		atomic_store(&head, at + 1);
}

static void *produce(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		put(i);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	int sum = 0;

	taken = argc > 1 && !strcmp(argv[1], "taken");
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, produce, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < SLOTS; i++)
		sum += slots[i];
	printf("%d\n", sum);
	return 0;
}
