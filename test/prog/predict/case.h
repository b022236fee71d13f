/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of this folder share: threads, and time for others to go first. */
#ifndef CASE_H
#define CASE_H

#define _GNU_SOURCE

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The hidden order: the threads started so far do what they can first. */
static inline void settle(void)
{
	usleep(20000);
}

static inline pthread_t start(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, argument) != 0)
		abort();
	return thread;
}

static inline pthread_t start_settled(void *(*run)(void *), void *argument)
{
	pthread_t thread = start(run, argument);

	settle();
	return thread;
}

static inline void join(pthread_t thread)
{
	if (pthread_join(thread, NULL) != 0)
		abort();
}

/* Runs two threads, the first one ahead. */
static inline void run_two(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t a = start_settled(first, NULL), b = start(second, NULL);

	join(a);
	join(b);
}

#define LOCK(m) pthread_mutex_lock(&(m))
#define UNLOCK(m) pthread_mutex_unlock(&(m))
#define MUTEX(name) static pthread_mutex_t name = PTHREAD_MUTEX_INITIALIZER
#define THREAD(name) static void *name(void *argument)
#define UNUSED (void)argument

#endif
