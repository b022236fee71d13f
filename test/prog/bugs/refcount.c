// SPDX-License-Identifier: Apache-2.0
/* A reference count is tested after its lock was released.  So both threads may see 0, or one may
 * test the count of an object that the other has freed.  All of these are one bug. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct object {
	int refs;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *shared;

static void *drop(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	shared->refs--;
	pthread_mutex_unlock(&lock);
	if (shared->refs == 0)
		free(shared);
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	shared = calloc(1, sizeof *shared);
	shared->refs = 2;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, drop, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	puts("done");
	return 0;
}
