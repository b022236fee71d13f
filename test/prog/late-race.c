// SPDX-License-Identifier: Apache-2.0
/* A long run with a race at each end.  Two threads count under a
 * lock.  Before the first and after the last round each writes a
 * variable without the lock, between two barriers.  usage: late-race
 * ROUNDS */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t meeting;
static volatile long counter, shared[64];
static volatile int early, late;
static long rounds;

static void *work(void *argument)
{
	pthread_barrier_wait(&meeting);
	early = argument != NULL; /* RACE */
	pthread_barrier_wait(&meeting);
	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&lock);
		counter++;
		shared[i % 64]++;
		pthread_mutex_unlock(&lock);
	}
	pthread_barrier_wait(&meeting);
	late = argument != NULL; /* RACE */
	pthread_barrier_wait(&meeting);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t one, two;

	rounds = argc > 1 ? atol(argv[1]) : 10;
	pthread_barrier_init(&meeting, NULL, 2);
	pthread_create(&one, NULL, work, NULL);
	pthread_create(&two, NULL, work, &two);
	pthread_join(one, NULL);
	pthread_join(two, NULL);
	return 0;
}
