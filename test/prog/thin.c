/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads take a lock in each of many rounds, for test/cli/record-thin.sh: "long" or "short".
 * Both read `stop` in each round without the lock.  Near the end, when the recorder has long begun
 * to leave out such frequent accesses, one of them writes `stop`.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int rounds, stop, total, own[2][64], stopped[2];

static void *work(void *argument)
{
	int me = *(int *)argument;

	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&lock);
		total++;
		pthread_mutex_unlock(&lock);
		own[me][i % 64]++;
		if (stop)
			stopped[me]++;
		if (me && i == rounds - rounds / 16)
			stop = 1;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int numbers[] = {0, 1};
	pthread_t threads[2];

	rounds = argc > 1 && !strcmp(argv[1], "long") ? 600000 : 1000;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, &numbers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", total);
	return 0;
}
