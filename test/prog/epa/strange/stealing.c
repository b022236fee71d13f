// SPDX-License-Identifier: Apache-2.0
/* Not deterministic: threads take jobs from one another. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int next[2];
static int done[2][10];

static void *work(void *argument)
{
	int me = (int)(long)argument, n = 0, i;
	while ((i = atomic_fetch_add(&next[me], 1)) < 10)
		done[me][i] = i * i, n++;
	while ((i = atomic_fetch_add(&next[1 - me], 1)) < 10)
		done[1 - me][i] = i * i, n++;
	return (void *)(long)n;
}

int main(void)
{
	pthread_t t[2];
	void *r[2];
	long sum = 0;
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], &r[i]);
	for (int i = 0; i < 10; i++)
		sum += done[0][i] - done[1][i];
	printf("%ld %ld\n", sum, (long)r[0] + (long)r[1]);
	return 0;
}
