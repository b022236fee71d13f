/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads: every way to start, end, join and name one.
 *
 * T_0: thread-start sem-init thread-create thread-join thread-create thread-join thread-create thread-join
 * T_0: thread-create thread-join!EBUSY thread-join!ETIMEDOUT thread-join!ETIMEDOUT sem-post thread-join
 * T_0: thread-create thread-detach sem-wait thread-join!EDEADLK
 * T_0: thread-create sem-wait thread-join thread-create thread-end
 * T_0_0: thread-start thread-end
 * T_0_1: thread-start thread-end
 * T_0_2: thread-start mutex-lock mutex-unlock thread-end
 * T_0_3: thread-start sem-wait thread-end
 * T_0_4: thread-start thread-name sem-post thread-end
 * T_0_5: thread-start sem-post thread-end
 * T_0_6: thread-start exit
 * HIDE: T_0_3 sem-request, T_0 sem-request
 */
#include "micro/case.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_key_t key;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t go;

static void destructor(void *value)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	(void)value;
}

static void *returns(void *argument)
{
	return argument;
}

static void *exits(void *argument)
{
	pthread_exit(argument);
}

static void *uses_key(void *argument)
{
	pthread_setspecific(key, argument);
	return NULL;
}

static void *waits(void *argument)
{
	sem_wait(&go);
	return argument;
}

static void *detached(void *argument)
{
	pthread_setname_np(pthread_self(), "worker");
	sem_post(&go);
	return argument;
}

static void *cancelled(void *argument)
{
	sem_post(&go);
	for (;;)
		pause();
	return argument;
}

static void *last(void *unused)
{
	settle(); /* until main has ended */
	exit(unused ? 1 : 9);
}

int main(void)
{
	struct timespec past = {1, 0};
	pthread_t t;
	void *result;

	sem_init(&go, 0, 0);
	pthread_key_create(&key, destructor);
	pthread_create(&t, NULL, returns, (void *)5);
	pthread_join(t, &result);
	printf("%ld\n", (long)result);
	pthread_create(&t, NULL, exits, (void *)6);
	pthread_join(t, &result);
	printf("%ld\n", (long)result);
	pthread_create(&t, NULL, uses_key, (void *)7);
	pthread_join(t, NULL);

	pthread_create(&t, NULL, waits, NULL);
	printf("%d\n", pthread_tryjoin_np(t, NULL));
	printf("%d\n", pthread_timedjoin_np(t, NULL, &past));
	printf("%d\n", pthread_clockjoin_np(t, NULL, CLOCK_MONOTONIC, &past));
	sem_post(&go);
	pthread_join(t, NULL);

	pthread_create(&t, NULL, detached, NULL);
	pthread_detach(t);
	sem_wait(&go);
	printf("%d\n", pthread_join(pthread_self(), NULL));

	pthread_create(&t, NULL, cancelled, NULL);
	sem_wait(&go);
	pthread_cancel(t);
	pthread_join(t, &result);
	printf("%d\n", result == PTHREAD_CANCELED);
	fflush(stdout);

	pthread_create(&t, NULL, last, NULL);
	pthread_exit(NULL);
}
