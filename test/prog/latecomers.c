/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs very many short-lived threads, 50 at a time.  The last two threads write the same variable.
 * The argument is the number of threads.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define AT_A_TIME 50

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long count, all, late;

static void *work(void *number)
{
	pthread_mutex_lock(&mutex);
	count++;
	pthread_mutex_unlock(&mutex);
	if ((long)number == all - 2 || (long)number == all - 1)
		late++;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[AT_A_TIME];

	all = argc > 1 ? atol(argv[1]) : AT_A_TIME;
	for (long begun = 0; begun < all;) {
		int n = 0;

		for (; n < AT_A_TIME && begun < all; n++, begun++)
			if (pthread_create(&threads[n], NULL, work, (void *)begun))
				return 3;
		while (n)
			pthread_join(threads[--n], NULL);
	}
	printf("%ld\n", count);
	return 0;
}
