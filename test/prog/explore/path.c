// SPDX-License-Identifier: Apache-2.0
/*
 * A race on a path that an ordinary run does not take: the reader accesses value only if the writer
 * came first, but main starts the writer when the reader has ended.
 */
#include "../micro/case.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready, value;

static void *reader(void *argument)
{
	int seen;

	pthread_mutex_lock(&lock);
	seen = ready;
	pthread_mutex_unlock(&lock);
	if (seen)
		value++;
	return argument;
}

static void *writer(void *argument)
{
	pthread_mutex_lock(&lock);
	ready = 1;
	pthread_mutex_unlock(&lock);
	value = 1;
	return argument;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, reader, NULL);
	settle();
	pthread_create(&threads[1], NULL, writer, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
