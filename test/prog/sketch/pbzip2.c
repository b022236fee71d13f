// SPDX-License-Identifier: Apache-2.0
/* After pbzip2: main clears the pointer to the queue's mutex while a consumer may still use it. */
#include <pthread.h>
#include <stdlib.h>

struct fifo {
	int empty;
	pthread_mutex_t *mut;
};

static struct fifo *queue_init(void)
{
	struct fifo *f = calloc(1, sizeof *f);

	f->mut = malloc(sizeof *f->mut);
	pthread_mutex_init(f->mut, NULL);
	return f;
}

static void *consumer(void *arg)
{
	struct fifo *f = arg;

	pthread_mutex_lock(f->mut);
	f->empty = 1;
	pthread_mutex_unlock(f->mut);
	return NULL;
}

int main(void)
{
	struct fifo *f = queue_init();
	pthread_t t;

	pthread_create(&t, NULL, consumer, f);
	for (volatile int i = 0; i < 100; i++)
		;
	f->mut = NULL;
	pthread_join(t, NULL);
	free(f);
	return 0;
}
