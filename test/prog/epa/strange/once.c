// SPDX-License-Identifier: Apache-2.0
/* Main waits for five detached threads by a semaphore. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t done;
static int results[5];

static void *work(void *argument)
{
	int *out = argument, n = (int)(out - results), a = 0, b = 1;
	for (int i = 0; i < n * 3; i++) {
		int c = a + b;
		a = b;
		b = c;
	}
	*out = a;
	sem_post(&done);
	return NULL;
}

int main(void)
{
	pthread_attr_t attributes;
	pthread_t t;
	sem_init(&done, 0, 0);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < 5; i++)
		pthread_create(&t, &attributes, work, &results[i]);
	for (int i = 0; i < 5; i++)
		sem_wait(&done);
	for (int i = 0; i < 5; i++)
		printf("%d\n", results[i]);
	return 0;
}
