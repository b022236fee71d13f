// SPDX-License-Identifier: Apache-2.0
// The race on "tag" is harmless. The program aborts if the taker gets the lock before the maker.
// That error is not a race, and must not be attributed to "tag".
// expect: tag k-witness-harmless -
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *box;
static int tag;

static void *maker(void *arg)
{
	(void)arg;
	tag = 1;
	pthread_mutex_lock(&lock);
	box = malloc(sizeof *box);
	*box = 3;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *taker(void *arg)
{
	(void)arg;
	tag = 2;
	pthread_mutex_lock(&lock);
	if (!box)
		abort(); /* order error, not a data race */
	free(box);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, maker, NULL);
	for (volatile int i = 0; i < 2000000; i++)
		;
	pthread_create(&b, NULL, taker, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts("done");
	return 0;
}
