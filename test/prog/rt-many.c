/* SPDX-License-Identifier: Apache-2.0 */
/* Runs 1500 threads at once, then 1500 threads one after another. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 1500 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int count;

static void *work(void *argument)
{
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&mutex);
	count++;
	pthread_mutex_unlock(&mutex);
	pthread_barrier_wait(&barrier);
	return argument;
}

int main(void)
{
	static pthread_t t[THREADS];
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 1 << 16);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], &small, work, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	pthread_barrier_destroy(&barrier);
	pthread_barrier_init(&barrier, NULL, 1);
	for (int i = 0; i < THREADS; i++) {
		pthread_create(&t[0], NULL, work, NULL);
		pthread_join(t[0], NULL);
	}
	printf("%d\n", count);
	return 0;
}
