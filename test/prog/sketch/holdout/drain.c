// SPDX-License-Identifier: Apache-2.0
/* The end is announced before the last item is in the queue: a consumer may miss that item. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int items, ended, eaten;

static void put(void)
{
	pthread_mutex_lock(&lock);
	items++;
	pthread_mutex_unlock(&lock);
}

static void *producer(void *unused)
{
	pthread_mutex_lock(&lock);
	ended = 1;
	pthread_mutex_unlock(&lock);
	put();
	return unused;
}

static int eat(void)
{
	int over;

	pthread_mutex_lock(&lock);
	eaten += items;
	items = 0;
	over = ended;
	pthread_mutex_unlock(&lock);
	return over;
}

static void *consumer(void *unused)
{
	while (!eat())
		;
	return unused;
}

int main(void)
{
	pthread_t p, c;

	pthread_create(&p, NULL, producer, NULL);
	pthread_create(&c, NULL, consumer, NULL);
	pthread_join(p, NULL);
	pthread_join(c, NULL);
	assert(eaten == 1);
	return 0;
}
