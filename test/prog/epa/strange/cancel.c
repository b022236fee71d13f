// SPDX-License-Identifier: Apache-2.0
/* A thread that waits is cancelled and its cleanup handlers run. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

static sem_t ready, never;
static int cleaned;

static void clean(void *p)
{
	int *block = p;
	cleaned = cleaned * 10 + block[3];
	free(block);
}

static void *work(void *argument)
{
	int *block = malloc(8 * sizeof *block);
	(void)argument;
	for (int i = 0; i < 8; i++)
		block[i] = i + 1;
	pthread_cleanup_push(clean, block);
	sem_post(&ready);
	sem_wait(&never);
	pthread_cleanup_pop(1);
	return NULL;
}

int main(void)
{
	pthread_t t;
	void *r;
	sem_init(&ready, 0, 0);
	sem_init(&never, 0, 0);
	pthread_create(&t, NULL, work, NULL);
	sem_wait(&ready);
	pthread_cancel(t);
	pthread_join(t, &r);
	printf("%d %d\n", cleaned, r == PTHREAD_CANCELED);
	return 0;
}
