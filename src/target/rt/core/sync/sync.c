// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed locks: mutexes, read-write locks, spin locks, semaphores and barriers, of pthread and
 * C11.
 *
 * A blocking lock function first tries to take the lock without waiting.  If trylock returns EBUSY,
 * the thread is about to wait.  In that case a REQUEST is written, and then the real function is
 * called, which handles everything else (deadlock errors, robust mutexes whose owner died,
 * priorities).  Any other result of trylock is the result that the lock function would have
 * returned, for every type of mutex.  Where glibc checks a clock or a time before it tries, this
 * code does too.
 *
 * Acquiring operations draw their q and write their record when they have succeeded, and releasing
 * operations before they begin.  So if the program is killed in between, no lock seems to be held
 * twice.  Between the drawing of q and the writing of the record, signal handlers write no records,
 * so the stream stays in the order of q.  No thread waits with the encoder taken, and a cancelled
 * wait leaves nothing to clean up.
 */
#include "rt/core/sync/c11.h"
#include "rt/core/layer.h"
#include "rt/core/real.h"

#include <fcntl.h>
#include <stdarg.h>
#include <time.h>

#define A(p) ((uintptr_t)(p))

void *__raddle_interpose_sync(void);

/* Instrumented code refers to a marker (raddle/libc.inc), which is the function below.  The
 * function refers to the other archive members, so that they are linked too. */
void rt_member_cond(void);
void rt_member_once(void);
void rt_member_create(void);
void rt_member_yield(void);
void rt_member_ompt(void);
void rt_member_glib(void);
void rt_member_uv(void);
void rt_member_channel(void);
void rt_member_kernel(void);
void rt_member_stdio(void);
void rt_member_refused(void);
void rt_member_outside(void);
void rt_member_identity(void);
void rt_member_limit(void);
void rt_member_path(void);
void rt_member_handler(void);
void rt_member_bare(void);
__attribute__((visibility("default"))) void *__raddle_interpose_sync(void)
{
	static void (*const members[])(void) = {
		rt_member_cond,	    rt_member_once,    rt_member_create,  rt_member_yield,  rt_member_ompt,
		rt_member_glib,	    rt_member_uv,      rt_member_channel, rt_member_kernel, rt_member_stdio,
		rt_member_refused,  rt_member_outside, rt_member_limit,	  rt_member_path,   rt_member_handler,
		rt_member_identity, rt_member_bare};

	return (void *)members;
}

static void event(struct rt_thread *t, uint32_t code, const void *object, uint64_t result)
{
	rt_sync(t, code, A(object), result);
}

/* Notifies layers that a synchronisation object is initialised or destroyed. */
static void fresh(struct rt_thread *t, const void *object)
{
	RT_NOTIFY(fresh, t, A(object));
}

static void event1(struct rt_thread *t, uint32_t code, const void *object)
{
	rt_sync(t, code, A(object), RT_NONE);
}

static void forget(struct rt_thread *t, uint32_t code, const void *object)
{
	fresh(t, object);
	event1(t, code, object);
}

/* A releasing operation.  `status` converts an errno value to what the function returns, and
 * `error` converts it back. */
#define RELEASE_AS(code, object, status, error, call)                                                        \
	do {                                                                                                 \
		struct rt_thread *t_ = rt_plain();                                                           \
		struct rt_release release_;                                                                  \
		int r_;                                                                                      \
		if (rt_is_allocator(__builtin_return_address(0)))                                            \
			return call;                                                                         \
		if (RT_UNLIKELY(rt.leaves_out) && rt_was_left_out((const void *)object))                     \
			return status(0);                                                                    \
		if (!t_)                                                                                     \
			return status(rt_listened_release(code, object));                                    \
		release_ = rt_release_begin(t_, code, A(object));                                            \
		r_ = call;                                                                                   \
		rt_release_end(t_, &release_, (uint64_t)error(r_));                                          \
		return r_;                                                                                   \
	} while (0)

/* An acquiring operation, which the statement STEPS performs.  If the caller is the allocator, only
 * CALL is executed. */
#define ACQUIRE_BY(code, object, until, status, error, call, steps)                                          \
	do {                                                                                                 \
		struct rt_thread *t_ = rt_plain();                                                           \
		int r_;                                                                                      \
		if (rt_is_allocator(__builtin_return_address(0)))                                            \
			return call;                                                                         \
		if (!t_)                                                                                     \
			return status(rt_listened_acquire(code, object, until));                             \
		steps;                                                                                       \
		event(t_, code, (const void *)object, (uint64_t)error(r_));                                  \
		return r_;                                                                                   \
	} while (0)

/* An acquiring operation that is a single call.  If `call` waits, it writes the REQUEST itself. */
#define ACQUIRE_AS(code, object, until, status, error, call)                                                 \
	ACQUIRE_BY(code, object, until, status, error, call, r_ = call)

/* The same macros, for functions that return an errno value. */
#define RELEASE(code, object, call) RELEASE_AS(code, object, , , call)
#define TRY(code, object, until, call) ACQUIRE_AS(code, object, until, , , call)

/* An operation that may wait.  TRY_CALL is its non-waiting form.  REQUEST is the statement that is
 * executed if it has to wait. */
#define WAIT(code, object, until, try_call, request, call)                                                   \
	ACQUIRE_BY(code, object, until, , , call, {                                                          \
		r_ = try_call;                                                                               \
		if (r_ == EBUSY) {                                                                           \
			request;                                                                             \
			r_ = call;                                                                           \
		}                                                                                            \
	})

/* A destruction.  The event is written first, because the memory may be reused immediately
 * afterwards. */
#define DESTROY(code, object, call)                                                                          \
	do {                                                                                                 \
		struct rt_thread *t_ = rt_handling(code, object);                                            \
		if (t_)                                                                                      \
			forget(t_, code, object);                                                            \
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
	struct rt_thread *t = rt_handling(RADDLE_MUTEX_INIT, mutex);
	int type = PTHREAD_MUTEX_DEFAULT;
	int r = REAL(pthread_mutex_init)(mutex, attributes);

	if (attributes)
		pthread_mutexattr_gettype(attributes, &type);
	if (t && !r) {
		fresh(t, mutex);
		event(t, RADDLE_MUTEX_INIT, mutex, (uint64_t)type);
	}
	return r;
}

INTERPOSE(int, pthread_mutex_destroy, (pthread_mutex_t * mutex))
{
	DESTROY(RADDLE_MUTEX_DESTROY, mutex, REAL(pthread_mutex_destroy)(mutex));
}

INTERPOSE(int, pthread_mutex_lock, (pthread_mutex_t * mutex))
{
	WAIT(RADDLE_MUTEX_LOCK, mutex, NULL, REAL(pthread_mutex_trylock)(mutex),
	     event1(t_, RADDLE_MUTEX_REQUEST, mutex), REAL(pthread_mutex_lock)(mutex));
}

INTERPOSE(int, pthread_mutex_trylock, (pthread_mutex_t * mutex))
{
	TRY(RADDLE_MUTEX_TRYLOCK, mutex, NULL, REAL(pthread_mutex_trylock)(mutex));
}

INTERPOSE(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *time))
{
	WAIT(RADDLE_MUTEX_TIMEDLOCK, mutex, RT_UNTIL(CLOCK_REALTIME, time),
	     REAL(pthread_mutex_trylock)(mutex), event1(t_, RADDLE_MUTEX_REQUEST, mutex),
	     REAL(pthread_mutex_timedlock)(mutex, time));
}

INTERPOSE(int, pthread_mutex_clocklock,
	  (pthread_mutex_t * mutex, clockid_t clock, const struct timespec *time))
{
	if (!clock_known(clock))
		TRY(RADDLE_MUTEX_TIMEDLOCK, mutex, RT_UNTIL(clock, time),
		    REAL(pthread_mutex_clocklock)(mutex, clock, time));
	WAIT(RADDLE_MUTEX_TIMEDLOCK, mutex, RT_UNTIL(clock, time), REAL(pthread_mutex_trylock)(mutex),
	     event1(t_, RADDLE_MUTEX_REQUEST, mutex), REAL(pthread_mutex_clocklock)(mutex, clock, time));
}

INTERPOSE(int, pthread_mutex_unlock, (pthread_mutex_t * mutex))
{
	RELEASE(RADDLE_MUTEX_UNLOCK, mutex, REAL(pthread_mutex_unlock)(mutex));
}

/* C11 mutexes: the same events, with their results as errno values. */

/* The sizes that raddle_object_size() returns. */
_Static_assert(sizeof(pthread_mutex_t) == 40 && sizeof(pthread_rwlock_t) == 56, "sizes of locks");
_Static_assert(sizeof(pthread_spinlock_t) == 4 && sizeof(pthread_cond_t) == 48, "sizes of locks");
_Static_assert(sizeof(pthread_barrier_t) == 32 && sizeof(sem_t) == 32, "sizes of locks");

/* A mtx_t is a pthread mutex. */
_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "one kind of mutex");

INTERPOSE(int, mtx_init, (mtx_t * mutex, int type))
{
	struct rt_thread *t = rt_handling(RADDLE_MUTEX_INIT, mutex);
	int r = REAL(mtx_init)(mutex, type);

	if (t && r == thrd_success) {
		fresh(t, mutex);
		event(t, RADDLE_MUTEX_INIT, mutex,
		      type & mtx_recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
	}
	return r;
}

INTERPOSE(void, mtx_destroy, (mtx_t * mutex))
{
	struct rt_thread *t = rt_handling(RADDLE_MUTEX_DESTROY, mutex);

	if (t)
		forget(t, RADDLE_MUTEX_DESTROY, mutex);
	REAL(mtx_destroy)(mutex);
}

static int wait_mtx(struct rt_thread *t, mtx_t *mutex, const struct timespec *time)
{
	int r = REAL(mtx_trylock)(mutex);

	if (r != thrd_busy)
		return r;
	event1(t, RADDLE_MUTEX_REQUEST, mutex);
	return time ? REAL(mtx_timedlock)(mutex, time) : REAL(mtx_lock)(mutex);
}

INTERPOSE(int, mtx_lock, (mtx_t * mutex))
{
	ACQUIRE_AS(RADDLE_MUTEX_LOCK, mutex, NULL, rt_thrd_of, rt_errno_of, wait_mtx(t_, mutex, NULL));
}

INTERPOSE(int, mtx_timedlock, (mtx_t *restrict mutex, const struct timespec *restrict time))
{
	ACQUIRE_AS(RADDLE_MUTEX_TIMEDLOCK, mutex, RT_UNTIL(CLOCK_REALTIME, time), rt_thrd_of, rt_errno_of,
		   wait_mtx(t_, mutex, time));
}

INTERPOSE(int, mtx_trylock, (mtx_t * mutex))
{
	ACQUIRE_AS(RADDLE_MUTEX_TRYLOCK, mutex, NULL, rt_thrd_of, rt_errno_of, REAL(mtx_trylock)(mutex));
}

INTERPOSE(int, mtx_unlock, (mtx_t * mutex))
{
	RELEASE_AS(RADDLE_MUTEX_UNLOCK, mutex, rt_thrd_of, rt_errno_of, REAL(mtx_unlock)(mutex));
}

/* Read-write locks. */

INTERPOSE(int, pthread_rwlock_init, (pthread_rwlock_t * rwlock, const pthread_rwlockattr_t *attributes))
{
	struct rt_thread *t = rt_handling(RADDLE_RWLOCK_INIT, rwlock);
	int r = REAL(pthread_rwlock_init)(rwlock, attributes);

	if (t && !r)
		forget(t, RADDLE_RWLOCK_INIT, rwlock);
	return r;
}

INTERPOSE(int, pthread_rwlock_destroy, (pthread_rwlock_t * rwlock))
{
	DESTROY(RADDLE_RWLOCK_DESTROY, rwlock, REAL(pthread_rwlock_destroy)(rwlock));
}

/* Records that the lock prefers writers.  This is done when a thread locks it for reading, because
 * not every lock is initialised by a call. */
static void note_writers(const pthread_rwlock_t *rwlock)
{
	struct rt_thread *t = RT_UNLIKELY(rt_prefers_writers(rwlock)) ? rt_plain() : NULL;

	if (t)
		event1(t, RADDLE_RWLOCK_WRITERS, rwlock);
}

#define RDLOCK(code, until, call)                                                                            \
	WAIT(code, rwlock, until, REAL(pthread_rwlock_tryrdlock)(rwlock),                                    \
	     event(t_, RADDLE_RWLOCK_REQUEST, rwlock, 0), call)
#define WRLOCK(code, until, call)                                                                            \
	WAIT(code, rwlock, until, REAL(pthread_rwlock_trywrlock)(rwlock),                                    \
	     event(t_, RADDLE_RWLOCK_REQUEST, rwlock, 1), call)

INTERPOSE(int, pthread_rwlock_rdlock, (pthread_rwlock_t * rwlock))
{
	note_writers(rwlock);
	RDLOCK(RADDLE_RWLOCK_RDLOCK, NULL, REAL(pthread_rwlock_rdlock)(rwlock));
}

INTERPOSE(int, pthread_rwlock_wrlock, (pthread_rwlock_t * rwlock))
{
	WRLOCK(RADDLE_RWLOCK_WRLOCK, NULL, REAL(pthread_rwlock_wrlock)(rwlock));
}

INTERPOSE(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * rwlock))
{
	TRY(RADDLE_RWLOCK_TRYRDLOCK, rwlock, NULL, REAL(pthread_rwlock_tryrdlock)(rwlock));
}

INTERPOSE(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * rwlock))
{
	TRY(RADDLE_RWLOCK_TRYWRLOCK, rwlock, NULL, REAL(pthread_rwlock_trywrlock)(rwlock));
}

/* A call with an invalid limit does not wait. */
#define LOCK_UNTIL(lock, code, valid, until, call)                                                           \
	do {                                                                                                 \
		if (!(valid))                                                                                \
			TRY(code, rwlock, until, call);                                                      \
		lock(code, until, call);                                                                     \
	} while (0)

INTERPOSE(int, pthread_rwlock_timedrdlock,
	  (pthread_rwlock_t *restrict rwlock, const struct timespec *restrict time))
{
	LOCK_UNTIL(RDLOCK, RADDLE_RWLOCK_TIMEDRDLOCK, time_valid(time), RT_UNTIL(CLOCK_REALTIME, time),
		   REAL(pthread_rwlock_timedrdlock)(rwlock, time));
}

INTERPOSE(int, pthread_rwlock_timedwrlock,
	  (pthread_rwlock_t *restrict rwlock, const struct timespec *restrict time))
{
	LOCK_UNTIL(WRLOCK, RADDLE_RWLOCK_TIMEDWRLOCK, time_valid(time), RT_UNTIL(CLOCK_REALTIME, time),
		   REAL(pthread_rwlock_timedwrlock)(rwlock, time));
}

INTERPOSE(int, pthread_rwlock_clockrdlock,
	  (pthread_rwlock_t *restrict rwlock, clockid_t clock, const struct timespec *restrict time))
{
	LOCK_UNTIL(RDLOCK, RADDLE_RWLOCK_TIMEDRDLOCK, clock_known(clock) && time_valid(time),
		   RT_UNTIL(clock, time), REAL(pthread_rwlock_clockrdlock)(rwlock, clock, time));
}

INTERPOSE(int, pthread_rwlock_clockwrlock,
	  (pthread_rwlock_t *restrict rwlock, clockid_t clock, const struct timespec *restrict time))
{
	LOCK_UNTIL(WRLOCK, RADDLE_RWLOCK_TIMEDWRLOCK, clock_known(clock) && time_valid(time),
		   RT_UNTIL(clock, time), REAL(pthread_rwlock_clockwrlock)(rwlock, clock, time));
}

INTERPOSE(int, pthread_rwlock_unlock, (pthread_rwlock_t * rwlock))
{
	RELEASE(RADDLE_RWLOCK_UNLOCK, rwlock, REAL(pthread_rwlock_unlock)(rwlock));
}

/* Spin locks. */

INTERPOSE(int, pthread_spin_init, (pthread_spinlock_t * spin, int shared))
{
	struct rt_thread *t = rt_handling(RADDLE_SPIN_INIT, (const void *)spin);
	int r = REAL(pthread_spin_init)(spin, shared);

	if (t && !r)
		forget(t, RADDLE_SPIN_INIT, (const void *)spin);
	return r;
}

INTERPOSE(int, pthread_spin_destroy, (pthread_spinlock_t * spin))
{
	DESTROY(RADDLE_SPIN_DESTROY, (const void *)spin, REAL(pthread_spin_destroy)(spin));
}

INTERPOSE(int, pthread_spin_lock, (pthread_spinlock_t * spin))
{
	WAIT(RADDLE_SPIN_LOCK, spin, NULL, REAL(pthread_spin_trylock)(spin),
	     event1(t_, RADDLE_SPIN_REQUEST, (const void *)spin), REAL(pthread_spin_lock)(spin));
}

INTERPOSE(int, pthread_spin_trylock, (pthread_spinlock_t * spin))
{
	TRY(RADDLE_SPIN_TRYLOCK, spin, NULL, REAL(pthread_spin_trylock)(spin));
}

INTERPOSE(int, pthread_spin_unlock, (pthread_spinlock_t * spin))
{
	RELEASE(RADDLE_SPIN_UNLOCK, spin, REAL(pthread_spin_unlock)(spin));
}

/* Barriers. */

INTERPOSE(int, pthread_barrier_init,
	  (pthread_barrier_t *restrict barrier, const pthread_barrierattr_t *restrict attributes,
	   unsigned count))
{
	struct rt_thread *t = rt_handling(RADDLE_BARRIER_INIT, barrier);
	int shared = PTHREAD_PROCESS_PRIVATE, r = REAL(pthread_barrier_init)(barrier, attributes, count);

	if (attributes)
		pthread_barrierattr_getpshared(attributes, &shared);
	if (t && !r) {
		RT_NOTIFY(barrier_init, t, A(barrier), count, shared == PTHREAD_PROCESS_SHARED);
		event(t, RADDLE_BARRIER_INIT, barrier, count);
	}
	return r;
}

INTERPOSE(int, pthread_barrier_destroy, (pthread_barrier_t * barrier))
{
	struct rt_thread *t = rt_handling(RADDLE_BARRIER_DESTROY, barrier);

	RT_NOTIFY(barrier_destroy, A(barrier));
	if (t)
		forget(t, RADDLE_BARRIER_DESTROY, barrier);
	return REAL(pthread_barrier_destroy)(barrier);
}

INTERPOSE(int, pthread_barrier_wait, (pthread_barrier_t * barrier))
{
	struct rt_thread *t = rt_plain();
	int r;

	if (!t && rt.listening[0])
		return rt_listened_barrier(barrier);
	if (t)
		event1(t, RADDLE_BARRIER_ENTER, barrier);
	r = REAL(pthread_barrier_wait)(barrier);
	if (t)
		event(t, RADDLE_BARRIER_EXIT, barrier, r == PTHREAD_BARRIER_SERIAL_THREAD);
	return r;
}

/* Semaphores, whose functions return -1 and set errno on failure. */

static uint64_t sem_result(int r)
{
	return r ? (uint64_t)errno : 0;
}

static int sem_status(int error)
{
	if (!error)
		return 0;
	errno = error;
	return -1;
}

INTERPOSE(int, sem_init, (sem_t * sem, int shared, unsigned value))
{
	struct rt_thread *t = rt_handling(RADDLE_SEM_INIT, sem);
	int r = REAL(sem_init)(sem, shared, value);

	if (t && !r) {
		fresh(t, sem);
		event(t, RADDLE_SEM_INIT, sem, value);
	}
	return r;
}

INTERPOSE(int, sem_destroy, (sem_t * sem))
{
	DESTROY(RADDLE_SEM_DESTROY, sem, REAL(sem_destroy)(sem));
}

INTERPOSE(sem_t *, sem_open, (const char *name, int flags, ...))
{
	struct rt_thread *t = rt_self();
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

/* rt_handling() is not called, because other threads may still use the same semaphore. */
INTERPOSE(int, sem_close, (sem_t * sem))
{
	struct rt_thread *t = rt_self();

	if (t)
		forget(t, RADDLE_SEM_DESTROY, sem);
	return REAL(sem_close)(sem);
}

/* Tries to take the semaphore, and writes a REQUEST if that fails.  glibc's waits are cancellation
 * points even if they do not have to wait. */
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
	ACQUIRE_AS(RADDLE_SEM_WAIT, sem, NULL, sem_status, sem_result,
		   sem_taken(t_, sem) ? 0 : REAL(sem_wait)(sem));
}

INTERPOSE(int, sem_trywait, (sem_t * sem))
{
	ACQUIRE_AS(RADDLE_SEM_TRYWAIT, sem, NULL, sem_status, sem_result, REAL(sem_trywait)(sem));
}

INTERPOSE(int, sem_timedwait, (sem_t *restrict sem, const struct timespec *restrict time))
{
	ACQUIRE_AS(RADDLE_SEM_TIMEDWAIT, sem, RT_UNTIL(CLOCK_REALTIME, time), sem_status, sem_result,
		   time_valid(time) && sem_taken(t_, sem) ? 0 : REAL(sem_timedwait)(sem, time));
}

INTERPOSE(int, sem_clockwait, (sem_t *restrict sem, clockid_t clock, const struct timespec *restrict time))
{
	ACQUIRE_AS(RADDLE_SEM_TIMEDWAIT, sem, RT_UNTIL(clock, time), sem_status, sem_result,
		   clock_known(clock) && time_valid(time) && sem_taken(t_, sem)
			   ? 0
			   : REAL(sem_clockwait)(sem, clock, time));
}

INTERPOSE(int, sem_post, (sem_t * sem))
{
	RELEASE_AS(RADDLE_SEM_POST, sem, sem_status, sem_result, REAL(sem_post)(sem));
}
