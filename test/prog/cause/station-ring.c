// expect: ready k-witness-harmless -
// Kind a: every thread stores the same 1 into ready (printed, but always 1);
// three stations take two tracks each in a cycle, so all three can block.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define N 3

pthread_mutex_t track[N] = {
	PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER,
};
int passed[N]; /* passed[k] is guarded by track[k] */
int ready;     /* redundant writes of 1 */

static void *station(void *arg)
{
	int id = (int)(intptr_t)arg;
	int left = id, right = (id + 1) % N;

	ready = 1; /* racy, same value everywhere */
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&track[left]);
		pthread_mutex_lock(&track[right]);
		passed[left]++;
		passed[right]++;
		pthread_mutex_unlock(&track[right]);
		pthread_mutex_unlock(&track[left]);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[N];
	for (int i = 0; i < N; i++)
		pthread_create(&t[i], NULL, station, (void *)(intptr_t)i);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
	printf("ready=%d passed=%d,%d,%d\n", ready, passed[0], passed[1], passed[2]);
	return 0;
}
