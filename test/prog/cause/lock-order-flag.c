// expect: swap_order spec-violated deadlock
// Kind d: both workers take the two locks in the order the flag says. As long
// as they see the same value there is one order; when one reads it before and
// the other after the unsynchronised write, the orders are opposite.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

#define ITER 4

pthread_mutex_t primary = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t replica = PTHREAD_MUTEX_INITIALIZER;
int swap_order; /* 0: primary first, 1: replica first */
int commits;	/* guarded by both locks */

static void commit(void)
{
	int swapped = swap_order; /* racy read */
	pthread_mutex_t *first = swapped ? &replica : &primary;
	pthread_mutex_t *second = swapped ? &primary : &replica;

	pthread_mutex_lock(first);
	pthread_mutex_lock(second);
	commits++;
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
}

static void *writer(void *arg)
{
	(void)arg;
	for (int i = 0; i < ITER; i++)
		commit();
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, writer, NULL);
	pthread_create(&b, NULL, writer, NULL);
	swap_order = 1; /* fail-over: racy write */
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("commits=%d\n", commits);
	return 0;
}
