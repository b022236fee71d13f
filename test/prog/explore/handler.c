// SPDX-License-Identifier: Apache-2.0
/*
 * A signal handler interrupts threads that lock and unlock, wherever they are, and posts a
 * semaphore.  Every schedule ends: no signal may arrive while the runtime holds a lock that the
 * handler needs.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

#define ROUNDS 2000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t ticks;
static int counter;

static void tick(int number)
{
	(void)number;
	sem_post(&ticks);
}

static void *count(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		counter++;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

int main(void)
{
	struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, 100}, {0, 100}}, never = {0};
	pthread_t threads[2];

	sem_init(&ticks, 0, 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, count, NULL);
	sem_wait(&ticks);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	return counter != 2 * ROUNDS;
}
