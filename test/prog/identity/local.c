// SPDX-License-Identifier: Apache-2.0
// objects: cache.used
/* The other threads get a pointer to a thread-local variable of main. */
#include <pthread.h>

struct cache {
	int entries[4], used;
};
static _Thread_local struct cache cache;

static void *work(void *argument)
{
	struct cache *c = argument;

	c->used++;
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	cache.used = 0;
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, &cache);
	cache.used++;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return cache.used > 4;
}
