/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutexes: every operation and every type.
 *
 * HIDE: T_0_1 mutex-request
 * T_0: thread-start mutex-init mutex-lock mutex-trylock!EBUSY mutex-request mutex-timedlock!ETIMEDOUT
 * T_0: mutex-unlock mutex-timedlock mutex-unlock mutex-timedlock mutex-unlock mutex-destroy
 * T_0: mutex-init mutex-lock mutex-lock mutex-trylock mutex-unlock mutex-unlock mutex-unlock
 * T_0: mutex-init mutex-lock mutex-request mutex-lock!EDEADLK mutex-unlock mutex-unlock!EPERM
 * T_0: mutex-init thread-create thread-join mutex-lock!EOWNERDEAD mutex-unlock
 * T_0: barrier-init mutex-lock thread-create barrier-enter barrier-exit mutex-unlock thread-join exit
 * T_0_0: thread-start mutex-lock thread-end
 * T_0_1: thread-start mutex-trylock!EBUSY barrier-enter barrier-exit mutex-lock mutex-unlock thread-end
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t plain, recursive, checked, robust;
static pthread_mutex_t fixed = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static int make(pthread_mutex_t *mutex, int type)
{
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, type);
	return pthread_mutex_init(mutex, &a);
}

static void *die_with_it(void *unused)
{
	pthread_mutex_lock(&robust);
	return unused;
}

static void *wait_for_it(void *unused)
{
	int busy = pthread_mutex_trylock(&fixed) == EBUSY;
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&fixed);
	pthread_mutex_unlock(&fixed);
	return busy ? unused : NULL;
}

int main(void)
{
	struct timespec past = {1, 0}, bad = {1, -1};
	pthread_mutexattr_t a;
	pthread_t t;

	pthread_mutex_init(&plain, NULL);
	pthread_mutex_lock(&plain);
	pthread_mutex_trylock(&plain);
	pthread_mutex_timedlock(&plain, &past);
	pthread_mutex_unlock(&plain);
	printf("%d\n", pthread_mutex_timedlock(&plain, &bad));
	pthread_mutex_unlock(&plain);
	pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &past);
	pthread_mutex_unlock(&plain);
	pthread_mutex_destroy(&plain);

	make(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_lock(&recursive);
	pthread_mutex_lock(&recursive);
	pthread_mutex_trylock(&recursive);
	for (int i = 0; i < 3; i++)
		pthread_mutex_unlock(&recursive);

	make(&checked, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_lock(&checked);
	printf("%d\n", pthread_mutex_lock(&checked));
	pthread_mutex_unlock(&checked);
	printf("%d\n", pthread_mutex_unlock(&checked));

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &a);
	pthread_create(&t, NULL, die_with_it, NULL);
	pthread_join(t, NULL);
	printf("%d\n", pthread_mutex_lock(&robust));
	pthread_mutex_consistent(&robust);
	pthread_mutex_unlock(&robust);

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_mutex_lock(&fixed);
	pthread_create(&t, NULL, wait_for_it, NULL);
	pthread_barrier_wait(&barrier);
	pthread_mutex_unlock(&fixed);
	pthread_join(t, NULL);
	return 0;
}
