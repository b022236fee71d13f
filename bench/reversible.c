/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight threads with very many operations, for the reversibility check:
 *
 *   reversible apart N     each thread changes its own data under one lock, so no order matters
 *   reversible barriers N  each thread reads what its neighbour wrote, with barriers between phases
 *   reversible ring N      the threads pass a counter on with semaphores
 *   reversible counter N   the threads change one counter under a lock, in any order
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, CELLS = 64 };

static int rounds;
static char mode;
static int data[THREADS][CELLS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t turn[THREADS];

static void step(int me, int i)
{
	switch (mode) {
	case 'a':
		pthread_mutex_lock(&lock);
		data[me][i % CELLS]++;
		pthread_mutex_unlock(&lock);
		break;
	case 'b':
		data[me][i % CELLS]++;
		pthread_barrier_wait(&barrier);
		data[me][(i + 1) % CELLS] += data[(me + 1) % THREADS][i % CELLS];
		pthread_barrier_wait(&barrier);
		break;
	case 'r':
		sem_wait(&turn[me]);
		data[0][i % CELLS]++;
		sem_post(&turn[(me + 1) % THREADS]);
		break;
	default:
		pthread_mutex_lock(&lock);
		data[0][i % CELLS]++;
		pthread_mutex_unlock(&lock);
	}
}

static void *work(void *number)
{
	for (int i = 0; i < rounds; i++)
		step(*(int *)number, i);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int numbers[THREADS];

	if (argc < 3)
		return 2;
	mode = argv[1][0];
	rounds = atoi(argv[2]);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		sem_init(&turn[i], 0, i == 0);
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, work, &numbers[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
