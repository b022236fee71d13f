// SPDX-License-Identifier: Apache-2.0
/*
 * Condition variables of a steered process.
 *
 * The program's own condition variables are not touched.  The runtime has a list of waiting
 * threads, in order of arrival.  Each of them sleeps on a real condition variable of its own, under
 * one common mutex.  So a wait has taken effect when its step ends.  A signal wakes the waiter
 * whose wake-up comes first in the plan.  If the plan lists no wake-up, the signal wakes the thread
 * that has waited longest.  Some waiters are meant to stay in this wait, because it is their stop
 * or lies past their limit; they come last.
 *
 * A waiter whose time is up stays in the list until it gets its turn.  If a signal arrives before
 * that, the wait ends by the signal, not by the timeout.  A waiter that is cancelled passes its
 * signal on.
 *
 * Results are those of the real functions: an unlock that fails ends the wait, and the result of
 * relocking takes precedence over that of the wait.  A condition variable that other processes can
 * see is left to libc.  In the child of a fork no thread waits on any condition variable.
 */
#include "rt/common/bug.h"
#include "rt/core/real.h"
#include "rt/steer/steer.h"

#define A(p) ((uintptr_t)(p))

struct rt_waiter {
	const pthread_cond_t *cond;
	struct rt_thread *t; /* NULL if the thread is not recorded */
	struct rt_op op;     /* the operation of waking up */
	pthread_cond_t wake;
	bool listed, signalled;
	struct rt_waiter *next, **link;
};

static void add(struct rt_waiter *w)
{
	struct rt_waiter **end = &rt_steering()->waiters;

	RT_ASSERT(!w->listed && !w->next);
	while (*end)
		end = &(*end)->next;
	w->link = end;
	*end = w;
	w->listed = true;
}

static void take_out(struct rt_waiter *w)
{
	if (!w->listed)
		return;
	RT_ASSERT(*w->link == w);
	*w->link = w->next;
	if (w->next)
		w->next->link = w->link;
	w->listed = false;
}

static struct rt_waiter *choose(const pthread_cond_t *cond)
{
	struct rt_waiter *best = NULL;
	uint64_t best_rank = 0;

	for (struct rt_waiter *w = rt_steering()->waiters; w; w = w->next) {
		uint64_t rank = w->cond == cond ? rt_step_rank(rt_step_of(&w->op)) : 0;
		if (w->cond == cond && (!best || rank < best_rank)) {
			best = w;
			best_rank = rank;
		}
	}
	return best;
}

/* Called with the mutex of the list held. */
static void wake_some(const pthread_cond_t *cond, bool all)
{
	struct rt_waiter *w;

	while ((w = choose(cond))) {
		take_out(w);
		w->signalled = true;
		REAL(pthread_cond_signal)(&w->wake);
		if (w->t)
			rt_turn_ready(w->t);
		if (!all)
			return;
	}
}

void rt_cond_notify(pthread_cond_t *cond, bool all)
{
	REAL(pthread_mutex_lock)(&rt_steering()->waiters_mutex);
	wake_some(cond, all);
	REAL(pthread_mutex_unlock)(&rt_steering()->waiters_mutex);
}

/* A wait of a thread, from its beginning to its wake event. */
struct wait {
	struct rt_waiter waiter;
	pthread_mutex_t *mutex;
	bool released; /* the program's mutex has been released */
	int result;
};

/* Waits where threads take turns.  The mutex of the list is released while others run. */
static int wait_by_turns(struct rt_waiter *w, const struct rt_until *until)
{
	bool waits = true;

	while (!w->signalled && waits) {
		pthread_testcancel();
		REAL(pthread_mutex_unlock)(&rt_steering()->waiters_mutex);
		waits = rt_turn_wait(rt_step_of(&w->op), until);
		REAL(pthread_mutex_lock)(&rt_steering()->waiters_mutex);
	}
	return w->signalled ? 0 : ETIMEDOUT;
}

static int sleep_until(struct rt_waiter *w, const struct rt_until *until)
{
	int r = 0;

	if (rt_step_takes_turns(rt_step_of(&w->op)))
		return wait_by_turns(w, until);
	while (!w->signalled && r == 0)
		r = until ? REAL(pthread_cond_clockwait)(&w->wake, &rt_steering()->waiters_mutex,
							 until->clock, until->time)
			  : REAL(pthread_cond_wait)(&w->wake, &rt_steering()->waiters_mutex);
	return r;
}

static void lock_again(struct wait *w)
{
	struct rt_step *step = rt_step_of(&w->waiter.op);
	struct rt_thread *t = w->waiter.t;
	int r = REAL(pthread_mutex_trylock)(w->mutex);

	if (r == EBUSY) {
		rt_op_waits(&w->waiter.op, A(w->mutex), false);
		while (r == EBUSY && rt_step_takes_turns(step)) {
			if (!rt_comes_back(RADDLE_MUTEX_LOCK, A(w->mutex)))
				rt_turn_wait(step, NULL);
			r = REAL(pthread_mutex_trylock)(w->mutex);
		}
		r = r == EBUSY ? REAL(pthread_mutex_lock)(w->mutex) : r;
	}
	if (r)
		w->result = r;
	if (t)
		RT_NOTIFY(acquired, t, RADDLE_MUTEX_LOCK, A(w->mutex), (uint64_t)r);
}

/* Called with the mutex of the list held, when a wake-up, a timeout or a cancellation has ended the
 * sleep. */
static void leave_list(struct wait *w)
{
	struct rt_waiter *waiter = &w->waiter;

	if (waiter->signalled && w->result == ECANCELED)
		wake_some(waiter->cond, false);
	REAL(pthread_mutex_unlock)(&rt_steering()->waiters_mutex);
	rt_op_gate(&waiter->op);
	REAL(pthread_mutex_lock)(&rt_steering()->waiters_mutex);
	take_out(waiter);
	if (waiter->signalled && w->result == ETIMEDOUT)
		w->result = 0;
	REAL(pthread_mutex_unlock)(&rt_steering()->waiters_mutex);
}

static void end_wait(struct wait **ended)
{
	struct wait *w = *ended;
	struct rt_thread *t = w->waiter.t;
	int saved = errno;

	if (w->released) {
		leave_list(w);
		lock_again(w);
	}
	if (t) {
		if (w->waiter.signalled)
			RT_NOTIFY(acquired, t, RADDLE_COND_WAKE, A(w->waiter.cond), 0);
		RT_EVENT(t, RADDLE_COND_WAKE, RT_Q, RT_T, A(w->waiter.cond), A(w->mutex),
			 (uint64_t)w->result);
		rt_op_end(&w->waiter.op);
	}
	errno = saved;
}

/* Adds the waiter to the list and releases the program's mutex.  After that, the wait has taken
 * effect.  The mutex of the list stays held, unless the release failed. */
static void release_mutex(struct wait *w, struct rt_op *op)
{
	rt_op_releasing(op, RADDLE_MUTEX_UNLOCK, A(w->mutex));
	REAL(pthread_mutex_lock)(&rt_steering()->waiters_mutex);
	add(&w->waiter);
	w->result = REAL(pthread_mutex_unlock)(w->mutex);
	w->released = w->result == 0;
	if (!w->released) {
		take_out(&w->waiter);
		REAL(pthread_mutex_unlock)(&rt_steering()->waiters_mutex);
	}
	rt_op_released(op, RADDLE_MUTEX_UNLOCK, A(w->mutex), (uint64_t)w->result);
}

static void begin_wait(struct wait *w, bool timed)
{
	struct rt_thread *t = w->waiter.t;
	uintptr_t cond = A(w->waiter.cond);
	RT_OP(op, RADDLE_COND_WAIT, cond);

	if (t)
		RT_EVENT(t, RADDLE_COND_WAIT, RT_Q, RT_T, cond, A(w->mutex), timed);
	if (w->result == 0)
		release_mutex(w, &op);
	if (!t)
		return;
	rt_op_end(&op);
	rt_op_begin(&w->waiter.op, t, RADDLE_COND_WAKE, cond);
	if (w->released)
		rt_op_waits(&w->waiter.op, cond, timed);
	else
		rt_op_gate(&w->waiter.op);
}

static bool is_valid(const struct rt_until *until)
{
	return !until || ((until->clock == CLOCK_REALTIME || until->clock == CLOCK_MONOTONIC) &&
			  until->time->tv_nsec >= 0 && until->time->tv_nsec < 1000000000);
}

int rt_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct rt_until *until)
{
	struct wait w = {.waiter = {.cond = cond, .t = rt_self(), .wake = PTHREAD_COND_INITIALIZER},
			 .mutex = mutex,
			 .result = is_valid(until) ? 0 : EINVAL};

	begin_wait(&w, until != NULL);
	{
		struct wait *ends __attribute__((cleanup(end_wait), unused)) = &w;
		if (w.released) {
			w.result = ECANCELED;
			w.result = sleep_until(&w.waiter, until);
		}
	}
	return w.result;
}
