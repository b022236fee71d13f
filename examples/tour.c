// SPDX-License-Identifier: Apache-2.0
/* Two workers add up their numbers and note which came last.  The lock protects only `total`;
 * doc/tour.md follows the race on `last`. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, last;

static void *work(void *argument)
{
	int number = *(int *)argument;

	last = number; /* without the lock */
	pthread_mutex_lock(&lock);
	total += number;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	static int numbers[] = {1, 2};
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, &numbers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", total);
	return last < 1;
}
