/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Condition variables: a wait that is signalled, timed waits, and a wait that is cancelled, after
 * which the mutex is held again when cleanup handlers run.
 *
 * HIDE: T_0 mutex-request, T_0_0 mutex-request, T_0_1 mutex-request
 * T_0: thread-start cond-init cond-broadcast mutex-lock cond-wait cond-wake!ETIMEDOUT
 * T_0: cond-wait cond-wake!EINVAL cond-wait cond-wake!ETIMEDOUT mutex-unlock
 * T_0: mutex-lock thread-create cond-wait cond-wake cond-signal mutex-unlock thread-join
 * T_0: mutex-lock thread-create cond-wait cond-wake mutex-unlock thread-join cond-destroy exit
 * T_0_0: thread-start mutex-lock cond-signal cond-wait cond-wake mutex-unlock thread-end
 * T_0_1: thread-start mutex-lock cond-signal cond-wait cond-wake!ECANCELED mutex-unlock thread-end
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond, answer = PTHREAD_COND_INITIALIZER;
static int turn;

static void *partner(void *unused)
{
	pthread_mutex_lock(&mutex);
	turn = 1;
	pthread_cond_signal(&cond);
	while (turn != 2)
		pthread_cond_wait(&answer, &mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void release(void *unused)
{
	(void)unused;
	printf("cleanup holds it: %d\n", pthread_mutex_unlock(&mutex));
}

static void *victim(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(release, NULL);
	turn = 3;
	pthread_cond_signal(&cond);
	for (;;)
		pthread_cond_wait(&answer, &mutex);
	pthread_cleanup_pop(0);
	return unused;
}

int main(void)
{
	struct timespec past = {1, 0}, bad = {1, -1};
	pthread_t t;

	pthread_cond_init(&cond, NULL);
	pthread_cond_broadcast(&cond);
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&cond, &mutex, &past);
	printf("%d\n", pthread_cond_timedwait(&cond, &mutex, &bad));
	pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &past);
	pthread_mutex_unlock(&mutex);

	pthread_mutex_lock(&mutex);
	pthread_create(&t, NULL, partner, NULL);
	while (turn != 1)
		pthread_cond_wait(&cond, &mutex);
	turn = 2;
	pthread_cond_signal(&answer);
	pthread_mutex_unlock(&mutex);
	pthread_join(t, NULL);

	pthread_mutex_lock(&mutex);
	pthread_create(&t, NULL, victim, NULL);
	while (turn != 3)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	pthread_cancel(t);
	pthread_join(t, NULL);
	pthread_cond_destroy(&cond);
	return 0;
}
