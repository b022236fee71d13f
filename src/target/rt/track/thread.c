// SPDX-License-Identifier: Apache-2.0
/* Numbers the threads in the order in which they are created.  In: calls that create threads.  Out:
 * numbers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt/track/track.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <threads.h>

__thread struct track_local track_local __attribute__((tls_model("initial-exec")));

void *__raddle_interpose_sync(void);
__attribute__((visibility("default"))) void *__raddle_interpose_sync(void)
{
	return (void *)__raddle_interpose_sync;
}

static uint32_t next_number(void)
{
	return atomic_fetch_add(&track.shared->threads, 1);
}

uint32_t track_thread(void)
{
	if (!track_local.number)
		track_local.number = next_number() + 1;
	return track_local.number - 1;
}

/* Reserves an entry and a number for a new thread.  Returns NULL if the program is not tracked, or
 * if there is no room. */
static struct track_beginning *prepare(void)
{
	for (uint32_t i = 0; track.shared && i < TRACK_STARTING; i++) {
		uint32_t free_now = 0;

		if (atomic_load_explicit(&track.beginnings[i].taken, memory_order_relaxed) ||
		    !atomic_compare_exchange_strong(&track.beginnings[i].taken, &free_now, 1))
			continue;
		track.beginnings[i].number = next_number();
		return &track.beginnings[i];
	}
	return NULL;
}

static struct track_beginning take(void *data)
{
	struct track_beginning *b = data,
			       copy = {.number = b->number, .start = b->start, .argument = b->argument};

	copy.start_c11 = b->start_c11;
	track_local.number = copy.number + 1;
	atomic_store(&b->taken, 0);
	return copy;
}

static void *begin_pthread(void *data)
{
	struct track_beginning b = take(data);

	return b.start(b.argument);
}

static int begin_c11(void *data)
{
	struct track_beginning b = take(data);

	return b.start_c11(b.argument);
}

TRACK_INTERPOSE(int, pthread_create,
		(pthread_t * handle, const pthread_attr_t *attr, void *(*start)(void *), void *argument))
{
	struct track_beginning *b = prepare();
	int r;

	if (!b)
		return TRACK_REAL(pthread_create)(handle, attr, start, argument);
	b->start = start;
	b->argument = argument;
	r = TRACK_REAL(pthread_create)(handle, attr, begin_pthread, b);
	if (r)
		atomic_store(&b->taken, 0);
	return r;
}

TRACK_INTERPOSE(int, thrd_create, (thrd_t * handle, thrd_start_t start, void *argument))
{
	struct track_beginning *b = prepare();
	int r;

	if (!b)
		return TRACK_REAL(thrd_create)(handle, start, argument);
	b->start_c11 = start;
	b->argument = argument;
	r = TRACK_REAL(thrd_create)(handle, begin_c11, b);
	if (r != thrd_success)
		atomic_store(&b->taken, 0);
	return r;
}
