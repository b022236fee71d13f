// SPDX-License-Identifier: Apache-2.0
/* After SQLite 1672: two threads take two locks in opposite orders. */
#include <pthread.h>

static pthread_mutex_t database = PTHREAD_MUTEX_INITIALIZER, cache = PTHREAD_MUTEX_INITIALIZER;
static int pages, hits;

static void *reader(void *unused)
{
	pthread_mutex_lock(&cache);
	hits++;
	pthread_mutex_lock(&database);
	pages++;
	pthread_mutex_unlock(&database);
	pthread_mutex_unlock(&cache);
	return unused;
}

static void *writer(void *unused)
{
	pthread_mutex_lock(&database);
	pages++;
	pthread_mutex_lock(&cache);
	hits = 0;
	pthread_mutex_unlock(&cache);
	pthread_mutex_unlock(&database);
	return unused;
}

int main(void)
{
	pthread_t r, w;

	pthread_create(&r, NULL, reader, NULL);
	pthread_create(&w, NULL, writer, NULL);
	pthread_join(r, NULL);
	pthread_join(w, NULL);
	return 0;
}
