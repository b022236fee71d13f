// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed locks: mutexes, read-write locks, spin locks, semaphores and
 * barriers, of pthread and C11.
 *
 * A blocking lock is tried first.  Where trying says EBUSY the thread is about to
 * wait: that is a REQUEST, and then the real function is called, which decides
 * alone (deadlock errors, robust owners that died, priorities).  Any other
 * answer of trylock is the answer the lock function would have given, for every type
 * of mutex.  Where glibc looks at a clock or a time before it tries, so do we.
 *
 * Acquiring operations take their q and write their record when they have
 * succeeded, releasing ones before they begin, so that a program that is killed
 * in between leaves no lock taken twice; signal handlers are held off meanwhile so
 * that the stream stays in the order of q.  No wait happens with the encoder held, and all waiting calls are
 * left by cancellation without anything to clean up.
 */
#include "rt/real.h"

#include <fcntl.h>
#include <stdarg.h>
#include <time.h>

#define SELF() rt_self()
#define A(p) ((uintptr_t)(p))

void *__raddle_interpose_sync(void);

/* The marker is a member that the others hang on. */
void rt_member_cond(void);
void rt_member_once(void);
void rt_member_create(void);
__attribute__((visibility("default"))) void *__raddle_interpose_sync(void)
{
	static void (*const members[])(void) = {rt_member_cond, rt_member_once, rt_member_create};

	return (void *)members;
}

static void event(struct rt_thread *t, uint32_t code, const void *object, uint64_t result)
{
	rt_sync(t, code, A(object), result);
}

static void event1(struct rt_thread *t, uint32_t code, const void *object)
{
	rt_sync(t, code, A(object), RT_NONE);
}

/* A releasing operation that returns its error. */
#define RELEASE(code, object, call)                                                                          \
	do {                                                                                                 \
		struct rt_thread *t_ = SELF();                                                               \
		struct rt_release release_;                                                                  \
		int r_;                                                                                      \
		if (!t_)                                                                                     \
			return call;                                                                         \
		release_ = rt_release_begin(t_, code, A(object));                                            \
		r_ = call;                                                                                   \
		rt_release_end(t_, &release_, (uint64_t)r_);                                                 \
		return r_;                                                                                   \
	} while (0)

/* An acquiring operation that returns its error and never waits. */
#define TRY(code, object, call)                                                                              \
	do {                                                                                                 \
		struct rt_thread *t_ = SELF();                                                               \
		int r_ = call;                                                                               \
		if (t_)                                                                                      \
			event(t_, code, object, (uint64_t)r_);                                               \
		return r_;                                                                                   \
	} while (0)

/* One that may wait: TRY_CALL is its trylock, REQUEST the statement for having
 * to wait. */
#define WAIT(code, object, try_call, request, call)                                                          \
	do {                                                                                                 \
		struct rt_thread *t_ = SELF();                                                               \
		int r_;                                                                                      \
		if (!t_)                                                                                     \
			return call;                                                                         \
		r_ = try_call;                                                                               \
		if (r_ == EBUSY) {                                                                           \
			request;                                                                             \
			r_ = call;                                                                           \
		}                                                                                            \
		event(t_, code, object, (uint64_t)r_);                                                       \
		return r_;                                                                                   \
	} while (0)

/* Destruction: the event comes first, the memory may be reused behind it. */
#define DESTROY(code, object, call)                                                                          \
	do {                                                                                                 \
		struct rt_thread *t_ = SELF();                                                               \
		if (t_)                                                                                      \
			event1(t_, code, object);                                                            \
		return call;                                                                                 \
	} while (0)

static bool clock_known(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

static bool time_valid(const struct timespec *time)
{
	return time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

/* Mutexes. */

INTERPOSE(int, pthread_mutex_init, (pthread_mutex_t * mutex, const pthread_mutexattr_t *attributes))
{
	struct rt_thread *t = SELF();
	int type = PTHREAD_MUTEX_DEFAULT;
	int r = REAL(pthread_mutex_init)(mutex, attributes);

	if (attributes)
		pthread_mutexattr_gettype(attributes, &type);
	if (t && !r)
		event(t, RADDLE_MUTEX_INIT, mutex, (uint64_t)type);
	return r;
}

INTERPOSE(int, pthread_mutex_destroy, (pthread_mutex_t * mutex))
{
	DESTROY(RADDLE_MUTEX_DESTROY, mutex, REAL(pthread_mutex_destroy)(mutex));
}

INTERPOSE(int, pthread_mutex_lock, (pthread_mutex_t * mutex))
{
	WAIT(RADDLE_MUTEX_LOCK, mutex, REAL(pthread_mutex_trylock)(mutex),
	     event1(t_, RADDLE_MUTEX_REQUEST, mutex), REAL(pthread_mutex_lock)(mutex));
}

INTERPOSE(int, pthread_mutex_trylock, (pthread_mutex_t * mutex))
{
	TRY(RADDLE_MUTEX_TRYLOCK, mutex, REAL(pthread_mutex_trylock)(mutex));
}

INTERPOSE(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *time))
{
	WAIT(RADDLE_MUTEX_TIMEDLOCK, mutex, REAL(pthread_mutex_trylock)(mutex),
	     event1(t_, RADDLE_MUTEX_REQUEST, mutex), REAL(pthread_mutex_timedlock)(mutex, time));
}

INTERPOSE(int, pthread_mutex_clocklock,
	  (pthread_mutex_t * mutex, clockid_t clock, const struct timespec *time))
{
	if (!clock_known(clock))
		TRY(RADDLE_MUTEX_TIMEDLOCK, mutex, REAL(pthread_mutex_clocklock)(mutex, clock, time));
	WAIT(RADDLE_MUTEX_TIMEDLOCK, mutex, REAL(pthread_mutex_trylock)(mutex),
	     event1(t_, RADDLE_MUTEX_REQUEST, mutex), REAL(pthread_mutex_clocklock)(mutex, clock, time));
}

INTERPOSE(int, pthread_mutex_unlock, (pthread_mutex_t * mutex))
{
	RELEASE(RADDLE_MUTEX_UNLOCK, mutex, REAL(pthread_mutex_unlock)(mutex));
}

/* C11 mutexes: the same events, with their results as errno values. */

static int errno_of(int result)
{
	switch (result) {
	case thrd_success:
		return 0;
	case thrd_busy:
		return EBUSY;
	case thrd_timedout:
		return ETIMEDOUT;
	case thrd_nomem:
		return ENOMEM;
	default:
		return EINVAL;
	}
}

INTERPOSE(int, mtx_init, (mtx_t * mutex, int type))
{
	struct rt_thread *t = SELF();
	int r = REAL(mtx_init)(mutex, type);

	if (t && r == thrd_success)
		event(t, RADDLE_MUTEX_INIT, mutex,
		      type & mtx_recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
	return r;
}

INTERPOSE(void, mtx_destroy, (mtx_t * mutex))
{
	struct rt_thread *t = SELF();

	if (t)
		event1(t, RADDLE_MUTEX_DESTROY, mutex);
	REAL(mtx_destroy)(mutex);
}

static int wait_mtx(struct rt_thread *t, uint32_t code, mtx_t *mutex, const struct timespec *time)
{
	int r = REAL(mtx_trylock)(mutex);

	if (r == thrd_busy) {
		event1(t, RADDLE_MUTEX_REQUEST, mutex);
		r = time ? REAL(mtx_timedlock)(mutex, time) : REAL(mtx_lock)(mutex);
	}
	event(t, code, mutex, (uint64_t)errno_of(r));
	return r;
}

INTERPOSE(int, mtx_lock, (mtx_t * mutex))
{
	struct rt_thread *t = SELF();

	return t ? wait_mtx(t, RADDLE_MUTEX_LOCK, mutex, NULL) : REAL(mtx_lock)(mutex);
}

INTERPOSE(int, mtx_timedlock, (mtx_t *restrict mutex, const struct timespec *restrict time))
{
	struct rt_thread *t = SELF();

	return t ? wait_mtx(t, RADDLE_MUTEX_TIMEDLOCK, mutex, time) : REAL(mtx_timedlock)(mutex, time);
}

INTERPOSE(int, mtx_trylock, (mtx_t * mutex))
{
	struct rt_thread *t = SELF();
	int r = REAL(mtx_trylock)(mutex);

	if (t)
		event(t, RADDLE_MUTEX_TRYLOCK, mutex, (uint64_t)errno_of(r));
	return r;
}

INTERPOSE(int, mtx_unlock, (mtx_t * mutex))
{
	RELEASE(RADDLE_MUTEX_UNLOCK, mutex, REAL(mtx_unlock)(mutex));
}

/* Read-write locks. */

INTERPOSE(int, pthread_rwlock_init, (pthread_rwlock_t * rwlock, const pthread_rwlockattr_t *attributes))
{
	struct rt_thread *t = SELF();
	int r = REAL(pthread_rwlock_init)(rwlock, attributes);

	if (t && !r)
		event1(t, RADDLE_RWLOCK_INIT, rwlock);
	return r;
}

INTERPOSE(int, pthread_rwlock_destroy, (pthread_rwlock_t * rwlock))
{
	DESTROY(RADDLE_RWLOCK_DESTROY, rwlock, REAL(pthread_rwlock_destroy)(rwlock));
}

#define RDLOCK(code, call)                                                                                   \
	WAIT(code, rwlock, REAL(pthread_rwlock_tryrdlock)(rwlock),                                           \
	     event(t_, RADDLE_RWLOCK_REQUEST, rwlock, 0), call)
#define WRLOCK(code, call)                                                                                   \
	WAIT(code, rwlock, REAL(pthread_rwlock_trywrlock)(rwlock),                                           \
	     event(t_, RADDLE_RWLOCK_REQUEST, rwlock, 1), call)

INTERPOSE(int, pthread_rwlock_rdlock, (pthread_rwlock_t * rwlock))
{
	RDLOCK(RADDLE_RWLOCK_RDLOCK, REAL(pthread_rwlock_rdlock)(rwlock));
}

INTERPOSE(int, pthread_rwlock_wrlock, (pthread_rwlock_t * rwlock))
{
	WRLOCK(RADDLE_RWLOCK_WRLOCK, REAL(pthread_rwlock_wrlock)(rwlock));
}

INTERPOSE(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * rwlock))
{
	TRY(RADDLE_RWLOCK_TRYRDLOCK, rwlock, REAL(pthread_rwlock_tryrdlock)(rwlock));
}

INTERPOSE(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * rwlock))
{
	TRY(RADDLE_RWLOCK_TRYWRLOCK, rwlock, REAL(pthread_rwlock_trywrlock)(rwlock));
}

INTERPOSE(int, pthread_rwlock_timedrdlock,
	  (pthread_rwlock_t *restrict rwlock, const struct timespec *restrict time))
{
	if (!time_valid(time))
		TRY(RADDLE_RWLOCK_TIMEDRDLOCK, rwlock, REAL(pthread_rwlock_timedrdlock)(rwlock, time));
	RDLOCK(RADDLE_RWLOCK_TIMEDRDLOCK, REAL(pthread_rwlock_timedrdlock)(rwlock, time));
}

INTERPOSE(int, pthread_rwlock_timedwrlock,
	  (pthread_rwlock_t *restrict rwlock, const struct timespec *restrict time))
{
	if (!time_valid(time))
		TRY(RADDLE_RWLOCK_TIMEDWRLOCK, rwlock, REAL(pthread_rwlock_timedwrlock)(rwlock, time));
	WRLOCK(RADDLE_RWLOCK_TIMEDWRLOCK, REAL(pthread_rwlock_timedwrlock)(rwlock, time));
}

INTERPOSE(int, pthread_rwlock_clockrdlock,
	  (pthread_rwlock_t *restrict rwlock, clockid_t clock, const struct timespec *restrict time))
{
	if (!clock_known(clock) || !time_valid(time))
		TRY(RADDLE_RWLOCK_TIMEDRDLOCK, rwlock, REAL(pthread_rwlock_clockrdlock)(rwlock, clock, time));
	RDLOCK(RADDLE_RWLOCK_TIMEDRDLOCK, REAL(pthread_rwlock_clockrdlock)(rwlock, clock, time));
}

INTERPOSE(int, pthread_rwlock_clockwrlock,
	  (pthread_rwlock_t *restrict rwlock, clockid_t clock, const struct timespec *restrict time))
{
	if (!clock_known(clock) || !time_valid(time))
		TRY(RADDLE_RWLOCK_TIMEDWRLOCK, rwlock, REAL(pthread_rwlock_clockwrlock)(rwlock, clock, time));
	WRLOCK(RADDLE_RWLOCK_TIMEDWRLOCK, REAL(pthread_rwlock_clockwrlock)(rwlock, clock, time));
}

INTERPOSE(int, pthread_rwlock_unlock, (pthread_rwlock_t * rwlock))
{
	RELEASE(RADDLE_RWLOCK_UNLOCK, rwlock, REAL(pthread_rwlock_unlock)(rwlock));
}

/* Spin locks. */

INTERPOSE(int, pthread_spin_init, (pthread_spinlock_t * spin, int shared))
{
	struct rt_thread *t = SELF();
	int r = REAL(pthread_spin_init)(spin, shared);

	if (t && !r)
		event1(t, RADDLE_SPIN_INIT, (const void *)spin);
	return r;
}

INTERPOSE(int, pthread_spin_destroy, (pthread_spinlock_t * spin))
{
	DESTROY(RADDLE_SPIN_DESTROY, (const void *)spin, REAL(pthread_spin_destroy)(spin));
}

INTERPOSE(int, pthread_spin_lock, (pthread_spinlock_t * spin))
{
	WAIT(RADDLE_SPIN_LOCK, (const void *)spin, REAL(pthread_spin_trylock)(spin),
	     event1(t_, RADDLE_SPIN_REQUEST, (const void *)spin), REAL(pthread_spin_lock)(spin));
}

INTERPOSE(int, pthread_spin_trylock, (pthread_spinlock_t * spin))
{
	TRY(RADDLE_SPIN_TRYLOCK, (const void *)spin, REAL(pthread_spin_trylock)(spin));
}

INTERPOSE(int, pthread_spin_unlock, (pthread_spinlock_t * spin))
{
	RELEASE(RADDLE_SPIN_UNLOCK, (const void *)spin, REAL(pthread_spin_unlock)(spin));
}

/* Barriers. */

INTERPOSE(int, pthread_barrier_init,
	  (pthread_barrier_t *restrict barrier, const pthread_barrierattr_t *restrict attributes,
	   unsigned count))
{
	struct rt_thread *t = SELF();
	int r = REAL(pthread_barrier_init)(barrier, attributes, count);

	if (t && !r)
		event(t, RADDLE_BARRIER_INIT, barrier, count);
	return r;
}

INTERPOSE(int, pthread_barrier_destroy, (pthread_barrier_t * barrier))
{
	DESTROY(RADDLE_BARRIER_DESTROY, barrier, REAL(pthread_barrier_destroy)(barrier));
}

INTERPOSE(int, pthread_barrier_wait, (pthread_barrier_t * barrier))
{
	struct rt_thread *t = SELF();
	int r;

	if (t)
		event1(t, RADDLE_BARRIER_ENTER, barrier);
	r = REAL(pthread_barrier_wait)(barrier);
	if (t)
		event(t, RADDLE_BARRIER_EXIT, barrier, r == PTHREAD_BARRIER_SERIAL_THREAD);
	return r;
}

/* Semaphores: they return -1 and set errno. */

static uint64_t sem_result(int r)
{
	return r ? (uint64_t)errno : 0;
}

INTERPOSE(int, sem_init, (sem_t * sem, int shared, unsigned value))
{
	struct rt_thread *t = SELF();
	int r = REAL(sem_init)(sem, shared, value);

	if (t && !r)
		event(t, RADDLE_SEM_INIT, sem, value);
	return r;
}

INTERPOSE(int, sem_destroy, (sem_t * sem))
{
	DESTROY(RADDLE_SEM_DESTROY, sem, REAL(sem_destroy)(sem));
}

INTERPOSE(sem_t *, sem_open, (const char *name, int flags, ...))
{
	struct rt_thread *t = SELF();
	unsigned mode = 0, value = 0;
	sem_t *sem;
	va_list ap;

	if (flags & O_CREAT) {
		va_start(ap, flags);
		mode = va_arg(ap, unsigned);
		value = va_arg(ap, unsigned);
		va_end(ap);
	}
	sem = REAL(sem_open)(name, flags, mode, value);
	if (t && sem != SEM_FAILED)
		event(t, RADDLE_SEM_INIT, sem, value);
	return sem;
}

INTERPOSE(int, sem_close, (sem_t * sem))
{
	DESTROY(RADDLE_SEM_DESTROY, sem, REAL(sem_close)(sem));
}

/* Tries; says with a REQUEST that it did not work.  glibc's waits are
 * cancellation points even if they need not wait. */
static bool sem_taken(struct rt_thread *t, sem_t *sem)
{
	int saved = errno;

	pthread_testcancel();
	if (!REAL(sem_trywait)(sem))
		return true;
	errno = saved;
	event1(t, RADDLE_SEM_REQUEST, sem);
	return false;
}

INTERPOSE(int, sem_wait, (sem_t * sem))
{
	struct rt_thread *t = SELF();
	int r;

	if (!t)
		return REAL(sem_wait)(sem);
	r = sem_taken(t, sem) ? 0 : REAL(sem_wait)(sem);
	event(t, RADDLE_SEM_WAIT, sem, sem_result(r));
	return r;
}

INTERPOSE(int, sem_trywait, (sem_t * sem))
{
	struct rt_thread *t = SELF();
	int r = REAL(sem_trywait)(sem);

	if (t)
		event(t, RADDLE_SEM_TRYWAIT, sem, sem_result(r));
	return r;
}

INTERPOSE(int, sem_timedwait, (sem_t *restrict sem, const struct timespec *restrict time))
{
	struct rt_thread *t = SELF();
	int r;

	if (!t)
		return REAL(sem_timedwait)(sem, time);
	r = time_valid(time) && sem_taken(t, sem) ? 0 : REAL(sem_timedwait)(sem, time);
	event(t, RADDLE_SEM_TIMEDWAIT, sem, sem_result(r));
	return r;
}

INTERPOSE(int, sem_clockwait, (sem_t *restrict sem, clockid_t clock, const struct timespec *restrict time))
{
	struct rt_thread *t = SELF();
	bool valid;
	int r;

	if (!t)
		return REAL(sem_clockwait)(sem, clock, time);
	valid = clock_known(clock) && time_valid(time);
	r = valid && sem_taken(t, sem) ? 0 : REAL(sem_clockwait)(sem, clock, time);
	event(t, RADDLE_SEM_TIMEDWAIT, sem, sem_result(r));
	return r;
}

INTERPOSE(int, sem_post, (sem_t * sem))
{
	struct rt_thread *t = SELF();
	struct rt_release release;
	int r;

	if (!t)
		return REAL(sem_post)(sem);
	release = rt_release_begin(t, RADDLE_SEM_POST, A(sem));
	r = REAL(sem_post)(sem);
	rt_release_end(t, &release, sem_result(r));
	return r;
}
