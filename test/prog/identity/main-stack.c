// SPDX-License-Identifier: Apache-2.0
// objects: main.jobs[].done main.limits.low main.sum
/* Threads get pointers to variables of main(): an int, a struct and an element of an array. */
#include <pthread.h>

struct limits {
	long high, low;
};
struct job {
	int *sum;
	struct limits *limits;
	int done;
};

static void *work(void *argument)
{
	struct job *job = argument;

	*job->sum += 1;
	job->limits->low--;
	job->done++;
	return NULL;
}

int main(void)
{
	pthread_t threads[6];
	int sum = 0;
	struct limits limits = {0, 0};
	struct job jobs[3] = {{&sum, &limits, 0}, {&sum, &limits, 0}, {&sum, &limits, 0}};

	for (int i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, work, &jobs[i / 2]);
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	return sum > 6;
}
