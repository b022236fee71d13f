// SPDX-License-Identifier: Apache-2.0
/* Threads add to atomic counters; the sums are the same in every order. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_long sum, low;
static _Atomic unsigned mask;

static void *work(void *argument)
{
	long me = (long)argument;
	for (long i = 0; i < 20; i++) {
		atomic_fetch_add(&sum, me * i);
		atomic_fetch_sub(&low, i);
		atomic_fetch_or(&mask, 1u << me);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[4];
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("%ld %ld %x\n", sum, low, mask);
	return 0;
}
