// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps track of threads: which ones exist, and how they begin, end and are joined.  If there is an
 * agent, the runtime keeps a list of all threads, because tracking of an access ends when every
 * thread is ordered after it.  A thread that was not created through the runtime (by clone() of a
 * library, or by libc itself) is adopted at its first call.  Its creation is unknown, so the thread
 * may be ordered after everything, and no race with it is ever found.
 */
#include "rt/guard/real.h"

#include <limits.h>

__thread struct guard_local guard_local;

/* Called with the lock held. */
static struct guard_thread *new_thread(void)
{
	enum { BATCH = 64 };
	struct guard_thread *t = guard.idle;

	if (!t) {
		t = guard_map(BATCH * sizeof *t);
		if (!t)
			return NULL;
		for (int i = 0; i + 1 < BATCH; i++)
			t[i].next = &t[i + 1];
	}
	guard.idle = t->next;
	*t = (struct guard_thread){.next = guard.threads, .number = ++guard.numbers};
	guard.threads = t;
	guard.live++;
	return t;
}

/* Called with the lock held. */
static void free_thread(struct guard_thread *t)
{
	struct guard_thread **at = &guard.threads;

	while (*at && *at != t)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = t->next;
	t->next = guard.idle;
	guard.idle = t;
}

/* The destructor of the key.  It acts in the last round, after the program's destructors. */
static void end(void *value)
{
	struct guard_thread *t = value;

	if (!guard.session || !guard_alive.value)
		return;
	if (t->rounds && --t->rounds) {
		pthread_setspecific(guard.key, t);
		return;
	}
	guard_local.self = NULL;
	guard_local.finished = true;
	if (!guard_lock())
		return;
	t->ended = true;
	guard.live--;
	guard_ends(t);
	if (t->detached)
		free_thread(t);
	guard_unlock();
}

/* Gives the calling thread a state.  The initial thread also creates the key. */
static struct guard_thread *adopt(void)
{
	struct guard_thread *t;
	bool first;

	if (guard_local.finished || !guard.session || !guard_alive.value || !guard_lock())
		return NULL;
	first = !guard.numbers;
	t = new_thread();
	if (t) {
		t->handle = pthread_self();
		t->adopted = !first;
		t->detached = !first;
		if (t->adopted)
			t->mask.maybe = UINT32_MAX;
		t->rounds = PTHREAD_DESTRUCTOR_ITERATIONS;
		guard_local.self = t;
	}
	guard_unlock();
	if (first && pthread_key_create(&guard.key, end))
		guard.session = NULL;
	else if (t)
		pthread_setspecific(guard.key, t);
	return t;
}

struct guard_thread *guard_self(void)
{
	return GUARD_LIKELY(guard_local.self != NULL) ? guard_local.self : adopt();
}

static void begin(struct guard_thread *t)
{
	uintptr_t control = (uintptr_t)pthread_self();

	guard_local.self = t;
	t->handle = pthread_self();
	t->stack_low = control - t->stack_high;
	t->stack_high = control + 4096;
	t->rounds = PTHREAD_DESTRUCTOR_ITERATIONS;
	pthread_setspecific(guard.key, t);
}

static void *begin_pthread(void *argument)
{
	struct guard_thread *t = argument;

	begin(t);
	return t->start(t->argument);
}

static int begin_c11(void *argument)
{
	struct guard_thread *t = argument;

	begin(t);
	return t->start_c11(t->argument);
}

static size_t stack_size(const pthread_attr_t *attr)
{
	pthread_attr_t defaults;
	size_t size = 8u << 20;

	if (attr)
		pthread_attr_getstacksize(attr, &size);
	else if (!pthread_getattr_default_np(&defaults)) {
		pthread_attr_getstacksize(&defaults, &size);
		pthread_attr_destroy(&defaults);
	}
	return size;
}

/* Returns the state of a thread that the caller is about to start, or NULL if the thread is started
 * without a state. */
static struct guard_thread *prepare(const pthread_attr_t *attr)
{
	struct guard_thread *parent = guard.session ? guard_self() : NULL, *t = NULL;
	int detached = 0;
	size_t size;

	if (!parent)
		return NULL;
	size = stack_size(attr);
	if (attr)
		pthread_attr_getdetachstate(attr, &detached);
	if (!guard_lock())
		return NULL;
	t = new_thread();
	if (t) {
		t->mask = parent->mask;
		t->stack_high = size;
		t->detached = detached == PTHREAD_CREATE_DETACHED;
	}
	guard_unlock();
	return t;
}

static void not_started(struct guard_thread *t)
{
	if (!guard_lock())
		return;
	guard.live--;
	free_thread(t);
	guard_unlock();
}

INTERPOSE(int, pthread_create,
	  (pthread_t * handle, const pthread_attr_t *attr, void *(*start)(void *), void *argument))
{
	struct guard_thread *t = prepare(attr);
	int r;

	if (!t)
		return REAL(pthread_create)(handle, attr, start, argument);
	t->start = start;
	t->argument = argument;
	r = REAL(pthread_create)(handle, attr, begin_pthread, t);
	if (r)
		not_started(t);
	return r;
}

INTERPOSE(int, thrd_create, (thrd_t * handle, thrd_start_t start, void *argument))
{
	struct guard_thread *t = prepare(NULL);
	int r;

	if (!t)
		return REAL(thrd_create)(handle, start, argument);
	t->start_c11 = start;
	t->argument = argument;
	r = REAL(thrd_create)(handle, begin_c11, t);
	if (r != thrd_success)
		not_started(t);
	return r;
}

/* Handles a thread that was joined or is being detached.  The state of a joined thread is freed
 * now; that of a detached thread is freed when the thread ends. */
static void settle(pthread_t handle, bool joined)
{
	int saved = errno;
	struct guard_thread *me = guard_self(), *t;

	if (me && guard_lock()) {
		for (t = guard.threads; t; t = t->next)
			if (pthread_equal(t->handle, handle) && !t->detached && (t->ended || !joined))
				break;
		if (t && joined) {
			guard_mask_add(&me->mask, t->mask);
			free_thread(t);
			guard_learnt(me->mask.sure);
		} else if (t) {
			t->detached = true;
			if (t->ended)
				free_thread(t);
		}
		guard_unlock();
	}
	errno = saved;
}

/* After the join, the handle may already belong to a new thread.  But the new thread has not ended,
 * so the two can be distinguished. */
#define JOIN(call, handle)                                                                                   \
	do {                                                                                                 \
		int r = call;                                                                                \
		if (!r && guard.session)                                                                     \
			settle(handle, true);                                                                \
		return r;                                                                                    \
	} while (0)

INTERPOSE(int, pthread_join, (pthread_t handle, void **result))
{
	JOIN(REAL(pthread_join)(handle, result), handle);
}

INTERPOSE(int, pthread_tryjoin_np, (pthread_t handle, void **result))
{
	JOIN(REAL(pthread_tryjoin_np)(handle, result), handle);
}

INTERPOSE(int, pthread_timedjoin_np, (pthread_t handle, void **result, const struct timespec *until))
{
	JOIN(REAL(pthread_timedjoin_np)(handle, result, until), handle);
}

INTERPOSE(int, pthread_clockjoin_np,
	  (pthread_t handle, void **result, clockid_t clock, const struct timespec *until))
{
	JOIN(REAL(pthread_clockjoin_np)(handle, result, clock, until), handle);
}

INTERPOSE(int, thrd_join, (thrd_t handle, int *result))
{
	JOIN(REAL(thrd_join)(handle, result), handle);
}

INTERPOSE(int, pthread_detach, (pthread_t handle))
{
	if (guard.session)
		settle(handle, false);
	return REAL(pthread_detach)(handle);
}

INTERPOSE(int, thrd_detach, (thrd_t handle))
{
	if (guard.session)
		settle(handle, false);
	return REAL(thrd_detach)(handle);
}
