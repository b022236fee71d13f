/* Races that keep company with another bug.  Each program fails now and then, but not because of
 * the race on the object that is listed in `company` of test/cli/classify-cause.sh.
 *
 *	company NAME */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 4

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

/* ---- lock order: two threads take two locks in different orders ---- */

static int limit, calls;

static void transfer(pthread_mutex_t *first, pthread_mutex_t *second)
{
	pthread_mutex_lock(first);
	pthread_mutex_lock(second);
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
}

static void *one_order(void *p)
{
	limit = 7; /* the other thread only reads whether it is positive */
	for (int i = 0; i < ROUNDS; i++)
		transfer(&a, &b);
	return p;
}

static void *other_order(void *p)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (limit >= 0)
			calls++;
		transfer(&b, &a);
	}
	return p;
}

/* ---- freed: a block is used after it was freed; the race is on a counter ---- */

static struct item {
	int value;
} * item;
static int looked;

static void *drop(void *p)
{
	looked = 1;
	pthread_mutex_lock(&a);
	free(item);
	pthread_mutex_unlock(&a);
	return p;
}

static void *use(void *p)
{
	looked = 1;
	pthread_mutex_lock(&a);
	item->value++;
	pthread_mutex_unlock(&a);
	return p;
}

/* ---- order: an assertion depends on which thread gets a lock first ---- */

static int stage, hits;

static void *prepare(void *p)
{
	hits = 1;
	pthread_mutex_lock(&a);
	stage = 1;
	pthread_mutex_unlock(&a);
	return p;
}

static void *expect(void *p)
{
	hits = 1;
	pthread_mutex_lock(&a);
	assert(stage == 1);
	pthread_mutex_unlock(&a);
	return p;
}

static void run(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t t[2];

	pthread_create(&t[0], NULL, first, NULL);
	pthread_create(&t[1], NULL, second, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (!strcmp(name, "lock-order")) {
		run(one_order, other_order);
	} else if (!strcmp(name, "freed")) {
		item = calloc(1, sizeof *item);
		run(use, drop);
	} else if (!strcmp(name, "order")) {
		run(prepare, expect);
	} else {
		return 2;
	}
	puts("done");
	return 0;
}
