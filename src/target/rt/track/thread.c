// SPDX-License-Identifier: Apache-2.0
/* Threads get numbers in the order in which they are created, by whoever creates them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt/track/track.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <threads.h>
#ifndef RADDLE_STATIC
#include <dlfcn.h>
#endif

enum { STARTING = 4096 }; /* threads that were created and have not begun */

/* Number and 1; 0: none yet. */
static __thread uint32_t own __attribute__((tls_model("initial-exec")));

struct beginning {
	_Atomic uint32_t taken;
	uint32_t number;
	void *(*start)(void *);
	int (*start_c11)(void *);
	void *argument;
};
static struct beginning beginnings[STARTING];

void *__raddle_interpose_sync(void);
__attribute__((visibility("default"))) void *__raddle_interpose_sync(void)
{
	return (void *)__raddle_interpose_sync;
}

#ifndef RADDLE_STATIC
void *track_find(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}
#endif

static uint32_t next_number(void)
{
	return atomic_fetch_add(&track.shared->threads, 1);
}

uint32_t track_thread(void)
{
	if (!own)
		own = next_number() + 1;
	return own - 1;
}

/* NULL: nobody wants to know, or there is no room. */
static struct beginning *prepare(void)
{
	for (uint32_t i = 0; track.shared && i < STARTING; i++) {
		uint32_t free_now = 0;

		if (atomic_load_explicit(&beginnings[i].taken, memory_order_relaxed) ||
		    !atomic_compare_exchange_strong(&beginnings[i].taken, &free_now, 1))
			continue;
		beginnings[i].number = next_number();
		return &beginnings[i];
	}
	return NULL;
}

static struct beginning take(void *data)
{
	struct beginning *b = data, copy = {.number = b->number, .start = b->start, .argument = b->argument};

	copy.start_c11 = b->start_c11;
	own = copy.number + 1;
	atomic_store(&b->taken, 0);
	return copy;
}

static void *begin_pthread(void *data)
{
	struct beginning b = take(data);

	return b.start(b.argument);
}

static int begin_c11(void *data)
{
	struct beginning b = take(data);

	return b.start_c11(b.argument);
}

TRACK_INTERPOSE(int, pthread_create,
		(pthread_t * handle, const pthread_attr_t *attr, void *(*start)(void *), void *argument))
{
	struct beginning *b = prepare();
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
	struct beginning *b = prepare();
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
