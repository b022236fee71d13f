// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed functions of condition variables, of pthread and C11.
 *
 * A wait consists of two events: COND_WAIT is written before the mutex is released, and COND_WAKE
 * when the thread holds it again.  When a wait is cancelled, the thread holds the mutex again while
 * the program's cleanup handlers run.  So a cleanup handler of the runtime, which runs before them,
 * writes the COND_WAKE with result ECANCELED.
 *
 * If layers listen, rt/core/sync/listened.c does all of this.
 */
#include "rt/core/sync/c11.h"
#include "rt/core/layer.h"
#include "rt/core/real.h"

#define A(p) ((uintptr_t)(p))

void rt_member_cond(void);
void rt_member_cond(void)
{
}

struct wait {
	struct rt_thread *t;
	const void *cond, *mutex;
	int result;
};

static void wake(struct wait *w)
{
	int saved = errno;

	if (w->t)
		RT_EVENT(w->t, RADDLE_COND_WAKE, RT_Q, RT_T, A(w->cond), A(w->mutex), (uint64_t)w->result);
	errno = saved;
}

/* However the wait ends, the cleanup of `w` writes the wake event. */
#define WAIT_BEGIN(cond_, mutex_, timed, notified)                                                           \
	if (RT_UNLIKELY(rt.leaves_out) && rt_wakes_at_once(mutex_))                                          \
		return 0;                                                                                    \
	struct wait w __attribute__((cleanup(wake))) = {rt_plain(), cond_, mutex_, ECANCELED};               \
	if (w.t)                                                                                             \
		RT_EVENT(w.t, RADDLE_COND_WAIT, RT_Q, RT_T, A(cond_), A(mutex_), timed);                     \
	else if (rt.listening[0])                                                                            \
	return notified

/* A bit of glibc's member __wrefs (2.25 and later).  It is set if the variable uses the monotonic
 * clock. */
#define MONOTONIC 2u

static clockid_t clock_of(const pthread_cond_t *cond)
{
	return cond->__data.__wrefs & MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

INTERPOSE(int, pthread_cond_wait, (pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex))
{
	WAIT_BEGIN(cond, mutex, 0, rt_listened_wait(cond, mutex, NULL));
	w.result = REAL(pthread_cond_wait)(cond, mutex);
	return w.result;
}

INTERPOSE(int, pthread_cond_timedwait,
	  (pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
	   const struct timespec *restrict time))
{
	WAIT_BEGIN(cond, mutex, 1, rt_listened_wait(cond, mutex, RT_UNTIL(clock_of(cond), time)));
	w.result = REAL(pthread_cond_timedwait)(cond, mutex, time);
	return w.result;
}

INTERPOSE(int, pthread_cond_clockwait,
	  (pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex, clockid_t clock,
	   const struct timespec *restrict time))
{
	WAIT_BEGIN(cond, mutex, 1, rt_listened_wait(cond, mutex, RT_UNTIL(clock, time)));
	w.result = REAL(pthread_cond_clockwait)(cond, mutex, clock, time);
	return w.result;
}

/* A cnd_t is a pthread condition variable. */
#define PTHREAD(cond) ((pthread_cond_t *)(cond))
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "one kind of condition variable");

INTERPOSE(int, cnd_wait, (cnd_t * cond, mtx_t *mutex))
{
	int r;

	WAIT_BEGIN(cond, mutex, 0,
		   rt_thrd_of(rt_listened_wait(PTHREAD(cond), (pthread_mutex_t *)mutex, NULL)));
	r = REAL(cnd_wait)(cond, mutex);
	w.result = rt_errno_of(r);
	return r;
}

INTERPOSE(int, cnd_timedwait,
	  (cnd_t *restrict cond, mtx_t *restrict mutex, const struct timespec *restrict time))
{
	int r;

	WAIT_BEGIN(cond, mutex, 1,
		   rt_thrd_of(rt_listened_wait(PTHREAD(cond), (pthread_mutex_t *)mutex,
					       RT_UNTIL(clock_of(PTHREAD(cond)), time))));
	r = REAL(cnd_timedwait)(cond, mutex, time);
	w.result = rt_errno_of(r);
	return r;
}

static void event(uint32_t code, const void *cond)
{
	struct rt_thread *t = rt_self();

	if (!t)
		return;
	RT_NOTIFY(fresh, t, A(cond));
	RT_EVENT(t, code, RT_Q, RT_T, A(cond));
}

INTERPOSE(int, pthread_cond_init,
	  (pthread_cond_t *restrict cond, const pthread_condattr_t *restrict attributes))
{
	int r;

	rt_handling(RADDLE_COND_INIT, cond);
	r = REAL(pthread_cond_init)(cond, attributes);
	if (!r)
		event(RADDLE_COND_INIT, cond);
	return r;
}

INTERPOSE(int, cnd_init, (cnd_t * cond))
{
	int r;

	rt_handling(RADDLE_COND_INIT, cond);
	r = REAL(cnd_init)(cond);
	if (r == thrd_success)
		event(RADDLE_COND_INIT, cond);
	return r;
}

INTERPOSE(int, pthread_cond_destroy, (pthread_cond_t * cond))
{
	rt_handling(RADDLE_COND_DESTROY, cond);
	event(RADDLE_COND_DESTROY, cond);
	return REAL(pthread_cond_destroy)(cond);
}

INTERPOSE(void, cnd_destroy, (cnd_t * cond))
{
	rt_handling(RADDLE_COND_DESTROY, cond);
	event(RADDLE_COND_DESTROY, cond);
	REAL(cnd_destroy)(cond);
}

/* Returns true if the caller must call the real function, or false if it must call
 * rt_listened_notify(). */
static bool notify(uint32_t code, const void *cond)
{
	struct rt_thread *t = rt_plain();

	if (t)
		RT_EVENT(t, code, RT_Q, RT_T, A(cond));
	return t || !rt.listening[0];
}

/* `status` converts an errno value to what the function returns. */
#define NOTIFY(name, type, code, status)                                                                     \
	INTERPOSE(int, name, (type * cond))                                                                  \
	{                                                                                                    \
		return notify(code, cond) ? REAL(name)(cond)                                                 \
					  : status(rt_listened_notify(code, PTHREAD(cond)));                 \
	}
NOTIFY(pthread_cond_signal, pthread_cond_t, RADDLE_COND_SIGNAL, )
NOTIFY(pthread_cond_broadcast, pthread_cond_t, RADDLE_COND_BROADCAST, )
NOTIFY(cnd_signal, cnd_t, RADDLE_COND_SIGNAL, rt_thrd_of)
NOTIFY(cnd_broadcast, cnd_t, RADDLE_COND_BROADCAST, rt_thrd_of)
#undef NOTIFY
