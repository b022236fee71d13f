// SPDX-License-Identifier: Apache-2.0
/* Two threads alternate by a condition variable, whichever of them gets the lock first. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int turn;
static long log_[16];

static void *work(void *argument)
{
	int me = (int)(long)argument;
	for (int i = 0; i < 8; i++) {
		pthread_mutex_lock(&lock);
		while (turn % 2 != me)
			pthread_cond_wait(&change, &lock);
		log_[turn] = turn ? log_[turn - 1] * 3 % 1009 + me + i : 1;
		turn++;
		pthread_cond_broadcast(&change);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", log_[15]);
	return 0;
}
