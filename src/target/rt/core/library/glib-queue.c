// SPDX-License-Identifier: Apache-2.0
/*
 * Replaces GLib's asynchronous queues (GAsyncQueue), because libglib's locks are not interposed
 * (rt/core/library/glib.c).  A queue is a list that is protected by a pthread mutex, and a
 * semaphore that counts the items.  A condition variable would need a predicate, which a trace does
 * not contain.  Each item has a semaphore, too.  So a thread that takes an item is ordered after
 * the thread that added this item, but not after all threads that added items.
 *
 * The functions whose names end in `_unlocked` are called with the queue's lock held; the others
 * take the lock themselves.
 */
#include "rt/core/library/front.h"

void rt_member_glib_queue(void);
void rt_member_glib_queue(void)
{
}

#ifndef RADDLE_STATIC
#include <time.h>

typedef int compare_fn(const void *, const void *, void *);

struct link {
	void *data;
	sem_t given; /* posted by the thread that adds the item */
	struct link *next;
};

struct queue {
	pthread_mutex_t mutex;
	sem_t filled;	    /* counts items; its count never exceeds the length of the list */
	struct link *first; /* the item that is taken next */
	int length, waiting;
	_Atomic int uses;
	void (*free_item)(void *);
};

FRONT(struct queue *, g_async_queue_new_full, (void (*free_item)(void *)))
{
	struct queue *q = rt_front_allocate(sizeof *q);

	q->uses = 1;
	q->free_item = free_item;
	return q;
}

FRONT(struct queue *, g_async_queue_new, (void))
{
	return g_async_queue_new_full(NULL);
}

FRONT(struct queue *, g_async_queue_ref, (struct queue * q))
{
	atomic_fetch_add(&q->uses, 1);
	return q;
}

FRONT(void, g_async_queue_ref_unlocked, (struct queue * q))
{
	g_async_queue_ref(q);
}

FRONT(void, g_async_queue_lock, (struct queue * q))
{
	pthread_mutex_lock(&q->mutex);
}

FRONT(void, g_async_queue_unlock, (struct queue * q))
{
	pthread_mutex_unlock(&q->mutex);
}

static void *take(struct queue *q)
{
	struct link *link = q->first;
	void *data = link ? link->data : NULL;

	if (link) {
		q->first = link->next;
		q->length--;
		sem_trywait(&link->given);
		sem_destroy(&link->given);
		REAL(free)(link);
	}
	return data;
}

/* Each thread takes the lock when it drops its reference.  So the thread that drops the last
 * reference is ordered after the others. */
FRONT(void, g_async_queue_unref, (struct queue * q))
{
	void *data;

	pthread_mutex_lock(&q->mutex);
	pthread_mutex_unlock(&q->mutex);
	if (atomic_fetch_sub(&q->uses, 1) > 1)
		return;
	while ((data = take(q)) != NULL)
		if (q->free_item)
			q->free_item(data);
	pthread_mutex_destroy(&q->mutex);
	sem_destroy(&q->filled);
	REAL(free)(q);
}

FRONT(void, g_async_queue_unref_and_unlock, (struct queue * q))
{
	g_async_queue_unlock(q);
	g_async_queue_unref(q);
}

static void put(struct queue *q, struct link **at, void *data)
{
	struct link *link = rt_front_allocate(sizeof *link);

	link->data = data;
	link->next = *at;
	*at = link;
	q->length++;
	sem_post(&link->given);
	sem_post(&q->filled);
}

static struct link **end_of(struct queue *q)
{
	struct link **at = &q->first;

	while (*at)
		at = &(*at)->next;
	return at;
}

FRONT(void, g_async_queue_push_unlocked, (struct queue * q, void *data))
{
	put(q, end_of(q), data);
}

FRONT(void, g_async_queue_push_front_unlocked, (struct queue * q, void *data))
{
	put(q, &q->first, data);
}

FRONT(void, g_async_queue_push_sorted_unlocked,
      (struct queue * q, void *data, compare_fn *compare, void *context))
{
	struct link **at = &q->first;

	while (*at && compare((*at)->data, data, context) < 0)
		at = &(*at)->next;
	put(q, at, data);
}

/* A stable sort. */
FRONT(void, g_async_queue_sort_unlocked, (struct queue * q, compare_fn *compare, void *context))
{
	struct link *sorted = NULL, *link;

	while ((link = q->first) != NULL) {
		struct link **at = &sorted;

		q->first = link->next;
		while (*at && compare((*at)->data, link->data, context) <= 0)
			at = &(*at)->next;
		link->next = *at;
		*at = link;
	}
	q->first = sorted;
}

FRONT(int, g_async_queue_remove_unlocked, (struct queue * q, void *data))
{
	for (struct link **at = &q->first; *at; at = &(*at)->next) {
		struct link *link = *at;

		if (link->data != data)
			continue;
		*at = link->next;
		q->length--;
		REAL(free)(link);
		sem_trywait(&q->filled);
		return 1;
	}
	return 0;
}

FRONT(int, g_async_queue_length_unlocked, (struct queue * q))
{
	return q->length - q->waiting;
}

FRONT(void *, g_async_queue_try_pop_unlocked, (struct queue * q))
{
	return sem_trywait(&q->filled) ? NULL : take(q);
}

/* Waits for an item until `end` on that clock, or without a limit if `end` is NULL.  Repeats the
 * wait if another thread has removed the item that the semaphore counted. */
static void *pop(struct queue *q, clockid_t clock, const struct timespec *end)
{
	void *data = NULL;
	int r = 0;

	while (!data && !r) {
		q->waiting++;
		pthread_mutex_unlock(&q->mutex);
		do
			r = end ? sem_clockwait(&q->filled, clock, end) : sem_wait(&q->filled);
		while (r && errno == EINTR);
		pthread_mutex_lock(&q->mutex);
		q->waiting--;
		data = r ? NULL : take(q);
	}
	return data;
}

FRONT(void *, g_async_queue_pop_unlocked, (struct queue * q))
{
	return pop(q, CLOCK_MONOTONIC, NULL);
}

FRONT(void *, g_async_queue_timeout_pop_unlocked, (struct queue * q, uint64_t microseconds))
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += (time_t)(microseconds / 1000000);
	end.tv_nsec += (long)(microseconds % 1000000) * 1000;
	if (end.tv_nsec >= 1000000000) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000;
	}
	return pop(q, CLOCK_MONOTONIC, &end);
}

/* `end` is two longs, seconds and microseconds since 1970, or NULL for no time limit. */
FRONT(void *, g_async_queue_timed_pop_unlocked, (struct queue * q, const long *end))
{
	struct timespec time;

	if (!end)
		return pop(q, CLOCK_REALTIME, NULL);
	time = (struct timespec){.tv_sec = end[0], .tv_nsec = end[1] * 1000};
	return pop(q, CLOCK_REALTIME, &time);
}

/* The functions that take the lock themselves. */
#define LOCKED(type, name, parameters, arguments)                                                            \
	FRONT(type, name, parameters)                                                                        \
	{                                                                                                    \
		type r_;                                                                                     \
		pthread_mutex_lock(&q->mutex);                                                               \
		r_ = name##_unlocked arguments;                                                              \
		pthread_mutex_unlock(&q->mutex);                                                             \
		return r_;                                                                                   \
	}
#define LOCKED_VOID(name, parameters, arguments)                                                             \
	FRONT(void, name, parameters)                                                                        \
	{                                                                                                    \
		pthread_mutex_lock(&q->mutex);                                                               \
		name##_unlocked arguments;                                                                   \
		pthread_mutex_unlock(&q->mutex);                                                             \
	}

LOCKED_VOID(g_async_queue_push, (struct queue * q, void *data), (q, data))
LOCKED_VOID(g_async_queue_push_front, (struct queue * q, void *data), (q, data))
LOCKED_VOID(g_async_queue_push_sorted, (struct queue * q, void *data, compare_fn *compare, void *context),
	    (q, data, compare, context))
LOCKED_VOID(g_async_queue_sort, (struct queue * q, compare_fn *compare, void *context), (q, compare, context))
LOCKED(int, g_async_queue_remove, (struct queue * q, void *data), (q, data))
LOCKED(int, g_async_queue_length, (struct queue * q), (q))
LOCKED(void *, g_async_queue_pop, (struct queue * q), (q))
LOCKED(void *, g_async_queue_try_pop, (struct queue * q), (q))
LOCKED(void *, g_async_queue_timeout_pop, (struct queue * q, uint64_t microseconds), (q, microseconds))
LOCKED(void *, g_async_queue_timed_pop, (struct queue * q, const long *end), (q, end))
#endif
