// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that begin and end in every way that a thread on one kernel thread could get wrong
 * (rt/steer/park.c): parked MODE.  Threads that have ended are not ended in the kernel, and threads
 * may be made before the program creates them.  The program exits with 1 if it notices.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { FEW = 3, MANY = 1100 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static __thread int fresh = 7;
static int count, destroyed;

static void need(int right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "wrong: %s\n", what);
	_exit(1);
}

static void add(int *to)
{
	pthread_mutex_lock(&mutex);
	++*to;
	pthread_mutex_unlock(&mutex);
}

static void destroy(void *value)
{
	need(value != NULL, "the value of a key");
	add(&destroyed);
}

/* Returns its argument; every third thread by pthread_exit(). */
static void *work(void *number)
{
	need(fresh == 7 && errno == 0, "the variables of a new thread");
	fresh = errno = 1;
	pthread_setspecific(key, number);
	add(&count);
	if ((uintptr_t)number % 3 == 0)
		pthread_exit(number);
	return number;
}

static void start(pthread_t *t, void *(*fn)(void *), uintptr_t number)
{
	need(!pthread_create(t, NULL, fn, (void *)number), "pthread_create()");
}

/* The result of each join, and each destructor, is that of its thread. */
static void results(void)
{
	pthread_t t[FEW];
	void *result;

	for (uintptr_t i = 0; i < FEW; i++)
		start(&t[i], work, i + 1);
	for (uintptr_t i = 0; i < FEW; i++)
		need(!pthread_join(t[i], &result) && result == (void *)(i + 1), "a result");
	need(count == FEW && destroyed == FEW, "the destructors");
}

static sem_t never;

static void *wait_for_ever(void *unused)
{
	while (sem_wait(&never))
		;
	return unused;
}

static void cancelled(void)
{
	pthread_t t;
	void *result;

	need(!sem_init(&never, 0, 0), "sem_init()");
	start(&t, wait_for_ever, 1);
	need(!pthread_cancel(t) && !pthread_join(t, &result) && result == PTHREAD_CANCELED,
	     "a cancelled thread");
}

/* Joins that do not wait, or not for ever. */
static void tried(void)
{
	struct timespec late = {.tv_sec = time(NULL) + 1000};
	pthread_t t[2];
	void *result = NULL;
	int r;

	start(&t[0], work, 1);
	start(&t[1], work, 2);
	while ((r = pthread_tryjoin_np(t[0], &result)) == EBUSY)
		sched_yield();
	need(r == 0 && result == (void *)1, "pthread_tryjoin_np()");
	while ((r = pthread_timedjoin_np(t[1], &result, &late)) == ETIMEDOUT)
		;
	need(r == 0 && result == (void *)2, "pthread_timedjoin_np()");
}

static int work_c11(void *number)
{
	add(&count);
	if ((uintptr_t)number == 2)
		thrd_exit(20);
	return 10;
}

static void c11(void)
{
	thrd_t t[2];
	int result;

	for (uintptr_t i = 0; i < 2; i++)
		need(thrd_create(&t[i], work_c11, (void *)(i + 1)) == thrd_success, "thrd_create()");
	for (int i = 0; i < 2; i++)
		need(thrd_join(t[i], &result) == thrd_success && result == (i + 1) * 10, "thrd_join()");
}

/* More threads one after the other than are kept. */
static void serial(void)
{
	pthread_t t;
	void *result;

	for (uintptr_t i = 1; i <= MANY; i++) {
		start(&t, work, i);
		need(!pthread_join(t, &result) && result == (void *)i, "a result of many");
	}
	need(count == MANY && destroyed == MANY, "the destructors of many");
}

static void *round_up(void *unused)
{
	need(fegetround() == FE_UPWARD, "the rounding mode of a new thread");
	add(&count);
	return unused;
}

/* A new thread has the rounding mode of its creator at the time of its creation. */
static void rounding(void)
{
	pthread_t t[2];

	start(&t[0], work, 1);
	need(!fesetround(FE_UPWARD), "fesetround()");
	start(&t[1], round_up, 1);
	for (int i = 0; i < 2; i++)
		need(!pthread_join(t[i], NULL), "a join");
	need(count == 2, "the count");
}

/* Threads with attributes, and detached ones, are not made before. */
static void attributes(void)
{
	pthread_attr_t a;
	pthread_t t;
	void *result;

	need(!pthread_attr_init(&a) && !pthread_attr_setstacksize(&a, 1 << 18), "attributes");
	need(!pthread_create(&t, &a, work, (void *)5) && !pthread_join(t, &result) && result == (void *)5,
	     "a small stack");
	need(!pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED) &&
		     !pthread_create(&t, &a, work, (void *)1),
	     "a detached thread");
	start(&t, work, 2);
	need(!pthread_detach(t), "pthread_detach()");
	for (int done = 0; !done; sched_yield()) {
		pthread_mutex_lock(&mutex);
		done = count == 3;
		pthread_mutex_unlock(&mutex);
	}
}

/* The process ends when its last thread has ended, with status 0. */
static void left_by_main(void)
{
	pthread_t t;

	start(&t, work, 1);
	need(!pthread_join(t, NULL), "a join");
	start(&t, work, 2);
	pthread_exit(NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} modes[] = {{"results", results},	 {"cancelled", cancelled},
		     {"tried", tried},		 {"c11", c11},
		     {"serial", serial},	 {"rounding", rounding},
		     {"attributes", attributes}, {"main", left_by_main}};

	need(!pthread_key_create(&key, destroy), "pthread_key_create()");
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (argc > 1 && !strcmp(argv[1], modes[i].name)) {
			modes[i].fn();
			return 0;
		}
	return 2;
}
