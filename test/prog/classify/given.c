// SPDX-License-Identifier: Apache-2.0
/* Pairs of accesses around synchronisation that has no owner, such as a
 * semaphore, or that is only tried.  Some pairs have a fixed order.  Others are
 * races, since another thread may post what one thread waits for.  The first
 * argument selects a kind from the table at the end.  A comment with the kind's
 * name marks the lines of its accesses. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t given, passed_on;
static volatile int shared, more;

/* ---- pairs with a fixed order, or mutually exclusive ---- */

static void chain(int n)
{
	if (n == 0) {
		shared = 1; /* chain */
		sem_post(&given);
	} else if (n == 1) {
		sem_wait(&given);
		sem_post(&passed_on);
	} else {
		sem_wait(&passed_on);
		printf("%d\n", shared); /* chain */
	}
}

/* A thread whose trylock fails does not access shared at all. */
static void once(int n)
{
	if (n == 2 || pthread_mutex_trylock(&mutex))
		return;
	shared++; /* once */
	pthread_mutex_unlock(&mutex);
}

/* Another thread waits meanwhile for a condition that has nothing to do with shared. */
static void idle(int n)
{
	if (n == 0) {
		shared = 1; /* idle */
		sem_post(&given);
		pthread_mutex_lock(&mutex);
		more = 1;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&mutex);
	} else if (n == 1) {
		pthread_mutex_lock(&mutex);
		while (!more)
			pthread_cond_wait(&changed, &mutex);
		pthread_mutex_unlock(&mutex);
	} else {
		sem_wait(&given);
		printf("%d\n", shared); /* idle */
	}
}

/* ---- races ---- */

/* Another thread posts, and it may get the mutex before the first thread has written. */
static void third(int n)
{
	if (n == 0) {
		pthread_mutex_lock(&mutex);
		shared = 1; /* third */
		pthread_mutex_unlock(&mutex);
	} else if (n == 1) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		sem_post(&given);
	} else {
		sem_wait(&given);
		printf("%d\n", shared); /* third */
	}
}

static void either(int n)
{
	if (n == 0)
		shared = 1; /* either */
	if (n < 2) {
		sem_post(&given);
		return;
	}
	sem_wait(&given);
	printf("%d\n", shared); /* either */
}

/* The barrier is for two of the three threads; the thread that writes does not wait at it. */
static void round_of_two(int n)
{
	if (n == 0)
		shared = 1; /* round */
	else
		pthread_barrier_wait(&barrier);
	if (n == 1)
		printf("%d\n", shared); /* round */
}

/* The reader has released the lock before it reads. */
static void peek(int n)
{
	if (n == 0) {
		pthread_mutex_lock(&mutex);
		shared = 1; /* peek */
		pthread_mutex_unlock(&mutex);
	} else if (n == 1 && !pthread_mutex_trylock(&mutex)) {
		pthread_mutex_unlock(&mutex);
		printf("%d\n", shared); /* peek */
	}
}

static const struct kind {
	const char *name;
	void (*work)(int n);
} kinds[] = {
	{"chain", chain},   {"once", once},	     {"idle", idle}, {"third", third},
	{"either", either}, {"round", round_of_two}, {"peek", peek},
};

static const struct kind *kind;

static void *thread(void *n)
{
	kind->work((int)(long)n);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];

	for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i].name, argv[1]))
			kind = &kinds[i];
	if (!kind)
		return 2;
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&given, 0, 0);
	sem_init(&passed_on, 0, 0);
	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, thread, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
