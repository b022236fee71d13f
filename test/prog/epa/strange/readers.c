// SPDX-License-Identifier: Apache-2.0
/* Threads read a table under a read-write lock; main changes it before each group of threads. */
#include <pthread.h>
#include <stdio.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int table[8];

static void *work(void *argument)
{
	long sum = (long)argument;
	for (int i = 0; i < 8; i++) {
		pthread_rwlock_rdlock(&lock);
		sum = sum * 3 + table[i];
		pthread_rwlock_unlock(&lock);
	}
	return (void *)(sum % 10007);
}

int main(void)
{
	pthread_t t[3];
	long sum = 0;
	for (int round = 0; round < 2; round++) {
		pthread_rwlock_wrlock(&lock);
		for (int i = 0; i < 8; i++)
			table[i] += i * (round + 1);
		pthread_rwlock_unlock(&lock);
		for (long i = 0; i < 3; i++)
			pthread_create(&t[i], NULL, work, (void *)i);
		for (int i = 0; i < 3; i++) {
			void *r;
			pthread_join(t[i], &r);
			sum = sum * 5 % 100003 + (long)r;
		}
	}
	printf("%ld\n", sum);
	return 0;
}
