// SPDX-License-Identifier: Apache-2.0
/* Many threads do the same two steps, and one thread checks that the second
 * step has been done if the first has.  The check fails only if it runs after
 * the first step of one thread but before the second step of every thread.
 * With an argument both steps are one critical section, and the program is
 * correct. */
#include <assert.h>
#include <pthread.h>

#define WORKERS 24

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER, second_lock = PTHREAD_MUTEX_INITIALIZER;
static int first, second, fine;

static void *work(void *unused)
{
	pthread_mutex_lock(&first_lock);
	first = 1;
	if (!fine)
		pthread_mutex_unlock(&first_lock);
	pthread_mutex_lock(&second_lock);
	second = 1;
	pthread_mutex_unlock(&second_lock);
	if (fine)
		pthread_mutex_unlock(&first_lock);
	return unused;
}

static void *look(void *unused)
{
	int seen;

	pthread_mutex_lock(&first_lock);
	seen = first;
	pthread_mutex_unlock(&first_lock);
	pthread_mutex_lock(&second_lock);
	assert(second >= seen);
	pthread_mutex_unlock(&second_lock);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[WORKERS + 1];

	(void)argv;
	fine = argc > 1;
	for (int i = 0; i <= WORKERS; i++)
		pthread_create(&threads[i], NULL, i < WORKERS ? work : look, NULL);
	for (int i = 0; i <= WORKERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
