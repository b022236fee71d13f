// SPDX-License-Identifier: Apache-2.0
// objects: done struct_item.taken
/* In each of four rounds, new threads change the items of a list without its lock. */
#include <pthread.h>
#include <stdlib.h>

struct item {
	struct item *next;
	int taken;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct item *items;
static int done;

static void *work(void *argument)
{
	struct item *i;

	(void)argument;
	pthread_mutex_lock(&lock);
	i = items;
	pthread_mutex_unlock(&lock);
	for (; i; i = i->next)
		i->taken++;
	done++;
	return NULL;
}

int main(void)
{
	pthread_t threads[6];

	for (int n = 0; n < 5; n++) {
		struct item *i = calloc(1, sizeof *i);
		i->next = items;
		items = i;
	}
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 6; i++)
			pthread_create(&threads[i], NULL, work, NULL);
		for (int i = 0; i < 6; i++)
			pthread_join(threads[i], NULL);
	}
	while (items) {
		struct item *next = items->next;
		free(items);
		items = next;
	}
	return 0;
}
