// SPDX-License-Identifier: Apache-2.0
/* A lost wake-up: another thread sets the flag and signals, without the lock, before the wait. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *waiter(void *unused)
{
	pthread_mutex_lock(&lock);
	if (!ready)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *setter(void *unused)
{
	ready = 1;
	pthread_cond_signal(&changed);
	return unused;
}

int main(void)
{
	pthread_t w, s;

	pthread_create(&w, NULL, waiter, NULL);
	pthread_create(&s, NULL, setter, NULL);
	pthread_join(w, NULL);
	pthread_join(s, NULL);
	return 0;
}
