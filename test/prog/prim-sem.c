/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semaphores, named and unnamed.  errno, which is printed, must be as without Raddle.
 *
 * HIDE: T_0_0 sem-request
 * T_0: thread-start sem-init sem-wait sem-trywait!EAGAIN sem-request sem-timedwait!ETIMEDOUT
 * T_0: sem-timedwait!EINVAL sem-request sem-timedwait!ETIMEDOUT sem-post sem-timedwait
 * T_0: thread-create sem-post thread-join thread-create thread-join sem-destroy
 * T_0: sem-init sem-wait sem-destroy exit
 * T_0_0: thread-start sem-wait thread-end
 * T_0_1: thread-start sem-request thread-end
 */
#include "micro/case.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static sem_t sem;

static void *waiter(void *unused)
{
	sem_wait(&sem);
	return unused;
}

int main(void)
{
	struct timespec past = {1, 0}, bad = {1, -1};
	char name[40];
	pthread_t t;
	sem_t *named;

	sem_init(&sem, 0, 1);
	errno = 77;
	sem_wait(&sem);
	printf("%d\n", errno);
	sem_trywait(&sem);
	printf("%d\n", errno);
	sem_timedwait(&sem, &past);
	sem_timedwait(&sem, &bad);
	printf("%d\n", errno);
	sem_clockwait(&sem, CLOCK_MONOTONIC, &past);
	printf("%d\n", errno);
	sem_post(&sem);
	sem_timedwait(&sem, &past);
	pthread_create(&t, NULL, waiter, NULL);
	sem_post(&sem);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, waiter, NULL);
	settle(); /* until the thread waits */
	pthread_cancel(t);
	pthread_join(t, NULL);
	sem_destroy(&sem);
	snprintf(name, sizeof name, "/raddle-%d", (int)getpid());
	named = sem_open(name, O_CREAT, 0600, 1);
	sem_unlink(name);
	sem_wait(named);
	sem_close(named);
	return 0;
}
