// SPDX-License-Identifier: Apache-2.0
/* The worker posts before it stores its result, so the program's exit status may be wrong. */
#include <pthread.h>
#include <semaphore.h>

static sem_t ready;
static volatile int result;

static int compute(int n)
{
	int sum = 0;

	for (int i = 1; i <= n; i++)
		sum += i;
	return sum;
}

static void *worker(void *unused)
{
	int sum = compute(10);

	sem_post(&ready);
	result = sum;
	return unused;
}

int main(void)
{
	pthread_t t;
	int status;

	sem_init(&ready, 0, 0);
	pthread_create(&t, NULL, worker, NULL);
	sem_wait(&ready);
	status = result == 55 ? 0 : 3;
	pthread_join(t, NULL);
	return status;
}
