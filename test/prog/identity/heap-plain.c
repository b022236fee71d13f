// SPDX-License-Identifier: Apache-2.0
// objects: *counter_(malloc_at_heap-plain.c:36) box.grid[]_(calloc_at_heap-plain.c:38)
/* A heap block without a struct type is named after the variable for which it was allocated. */
#include <pthread.h>
#include <stdlib.h>

struct box {
	int *grid;
};

static int *counter;
static struct box box;

static void *work(void *argument)
{
	int *cell = argument;

	(*counter)++;
	for (int i = 0; i < 16; i++)
		cell[i]++;
	return NULL;
}

static void run(int *grid)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, grid);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	counter = malloc(sizeof *counter);
	*counter = 0;
	box.grid = calloc(16, sizeof *box.grid);
	run(box.grid);
	free(counter);
	free(box.grid);
	return 0;
}
