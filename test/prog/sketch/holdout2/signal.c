// SPDX-License-Identifier: Apache-2.0
/* The flag is read outside the lock: the signal may come before the wait, which then never ends. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stopped = PTHREAD_COND_INITIALIZER;
static volatile int stop;

static void *closer(void *unused)
{
	stop = 1;
	pthread_mutex_lock(&lock);
	pthread_cond_signal(&stopped);
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, closer, NULL);
	if (!stop) {
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&stopped, &lock);
		pthread_mutex_unlock(&lock);
	}
	pthread_join(t, NULL);
	return 0;
}
