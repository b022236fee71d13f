// SPDX-License-Identifier: Apache-2.0
// objects: parent.mine parent.table[]
/* A thread passes pointers to its local variables to the threads that it creates. */
#include <pthread.h>

struct shared {
	int *mine, *table;
};

static void *child(void *argument)
{
	struct shared *s = argument;

	(*s->mine)++;
	for (int i = 0; i < 4; i++)
		s->table[i]++;
	return NULL;
}

static void *parent(void *argument)
{
	pthread_t children[3];
	int mine = 1, table[4] = {0};
	struct shared shared = {&mine, table};

	(void)argument;
	for (int i = 0; i < 3; i++)
		pthread_create(&children[i], NULL, child, &shared);
	for (int i = 0; i < 3; i++)
		pthread_join(children[i], NULL);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, parent, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
