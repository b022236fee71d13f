// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed locks, waits, barriers, semaphores and one-time initialisation, of pthread, C11 and
 * C++.  Each function calls the real one and tests whether an access is tracked: an acquiring
 * function after the call, a releasing one before it.
 */
#include "rt/guard/real.h"

void *__raddle_interpose_sync(void);
__attribute__((visibility("default"))) void *__raddle_interpose_sync(void)
{
	return (void *)__raddle_interpose_sync;
}

static int got(int result, const volatile void *object)
{
	if (guard_tracks() && (!result || result == EOWNERDEAD))
		guard_note_acquire(object, GUARD_EXCLUSIVE);
	return result;
}

static int got_shared(int result, const volatile void *object)
{
	if (guard_tracks() && !result)
		guard_note_acquire(object, GUARD_SHARED);
	return result;
}

static int got_c11(int result, const volatile void *object)
{
	if (guard_tracks() && result == thrd_success)
		guard_note_acquire(object, GUARD_EXCLUSIVE);
	return result;
}

/* ACQUIRES defines a function that acquires OBJECT if it succeeds.  HOW is the function that checks
 * the result and reports the acquisition.  RELEASES defines a function that releases OBJECT. */
#define ACQUIRES(how, object, name, parameters, arguments)                                                   \
	INTERPOSE(int, name, parameters)                                                                     \
	{                                                                                                    \
		return how(REAL(name) arguments, object);                                                    \
	}
#define RELEASES(object, name, parameters, arguments)                                                        \
	INTERPOSE(int, name, parameters)                                                                     \
	{                                                                                                    \
		guard_releases(object);                                                                      \
		return REAL(name) arguments;                                                                 \
	}

/* Defines pthread_TYPE_lock(), _trylock(), _timedlock() and _clocklock().  KIND is rd or wr for a
 * read-write lock, as in _timedrdlock(). */
#define LOCKS(how, type, kind)                                                                               \
	ACQUIRES(how, lock, pthread_##type##_##kind##lock, (pthread_##type##_t * lock), (lock))              \
	ACQUIRES(how, lock, pthread_##type##_try##kind##lock, (pthread_##type##_t * lock), (lock))           \
	ACQUIRES(how, lock, pthread_##type##_timed##kind##lock,                                              \
		 (pthread_##type##_t * lock, const struct timespec *until), (lock, until))                   \
	ACQUIRES(how, lock, pthread_##type##_clock##kind##lock,                                              \
		 (pthread_##type##_t * lock, clockid_t clock, const struct timespec *until),                 \
		 (lock, clock, until))

/* ---- mutexes ---- */

LOCKS(got, mutex, )
RELEASES(mutex, pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex))
ACQUIRES(got_c11, mutex, mtx_lock, (mtx_t * mutex), (mutex))
ACQUIRES(got_c11, mutex, mtx_trylock, (mtx_t * mutex), (mutex))
ACQUIRES(got_c11, mutex, mtx_timedlock, (mtx_t * mutex, const struct timespec *until), (mutex, until))
RELEASES(mutex, mtx_unlock, (mtx_t * mutex), (mutex))
ACQUIRES(got, lock, pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
ACQUIRES(got, lock, pthread_spin_trylock, (pthread_spinlock_t * lock), (lock))
RELEASES(lock, pthread_spin_unlock, (pthread_spinlock_t * lock), (lock))

INTERPOSE(void, flockfile, (FILE * stream))
{
	REAL(flockfile)(stream);
	guard_acquired(stream);
}

ACQUIRES(got, stream, ftrylockfile, (FILE * stream), (stream))

INTERPOSE(void, funlockfile, (FILE * stream))
{
	guard_releases(stream);
	REAL(funlockfile)(stream);
}

/* ---- read-write locks ---- */

LOCKS(got_shared, rwlock, rd)
LOCKS(got, rwlock, wr)

/* glibc stores the thread that holds the lock for writing; the field is 0 while it is held for
 * reading. */
INTERPOSE(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock))
{
	if (guard_tracks())
		guard_note_release(lock, lock->__data.__cur_writer ? GUARD_EXCLUSIVE : GUARD_SHARED);
	return REAL(pthread_rwlock_unlock)(lock);
}

/* ---- condition variables ---- */

/* However the wait ends, the thread holds the mutex again, even if it was cancelled in the wait. */
static void has_mutex(void *mutex)
{
	guard_acquired(*(void **)mutex);
}

#define WAIT(call, condition, mutex)                                                                         \
	do {                                                                                                 \
		void *held __attribute__((cleanup(has_mutex))) = mutex;                                      \
		int r;                                                                                       \
		guard_releases(held);                                                                        \
		r = call;                                                                                    \
		if (!r)                                                                                      \
			guard_acquired(condition);                                                           \
		return r;                                                                                    \
	} while (0)

INTERPOSE(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex))
{
	WAIT(REAL(pthread_cond_wait)(condition, mutex), condition, mutex);
}

INTERPOSE(int, pthread_cond_timedwait,
	  (pthread_cond_t * condition, pthread_mutex_t *mutex, const struct timespec *until))
{
	WAIT(REAL(pthread_cond_timedwait)(condition, mutex, until), condition, mutex);
}

INTERPOSE(int, pthread_cond_clockwait,
	  (pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until))
{
	WAIT(REAL(pthread_cond_clockwait)(condition, mutex, clock, until), condition, mutex);
}

INTERPOSE(int, cnd_wait, (cnd_t * condition, mtx_t *mutex))
{
	WAIT(REAL(cnd_wait)(condition, mutex), condition, mutex);
}

INTERPOSE(int, cnd_timedwait, (cnd_t * condition, mtx_t *mutex, const struct timespec *until))
{
	WAIT(REAL(cnd_timedwait)(condition, mutex, until), condition, mutex);
}

RELEASES(condition, pthread_cond_signal, (pthread_cond_t * condition), (condition))
RELEASES(condition, pthread_cond_broadcast, (pthread_cond_t * condition), (condition))
RELEASES(condition, cnd_signal, (cnd_t * condition), (condition))
RELEASES(condition, cnd_broadcast, (cnd_t * condition), (condition))

/* ---- barriers, semaphores ---- */

INTERPOSE(int, pthread_barrier_wait, (pthread_barrier_t * barrier))
{
	int r;

	guard_releases(barrier);
	r = REAL(pthread_barrier_wait)(barrier);
	guard_acquired(barrier);
	return r;
}

ACQUIRES(got, semaphore, sem_wait, (sem_t * semaphore), (semaphore))
ACQUIRES(got, semaphore, sem_trywait, (sem_t * semaphore), (semaphore))
ACQUIRES(got, semaphore, sem_timedwait, (sem_t * semaphore, const struct timespec *until), (semaphore, until))
ACQUIRES(got, semaphore, sem_clockwait, (sem_t * semaphore, clockid_t clock, const struct timespec *until),
	 (semaphore, clock, until))
RELEASES(semaphore, sem_post, (sem_t * semaphore), (semaphore))

/* ---- one-time initialisation ---- */

/* A one-time initialisation that the thread is running.  If such initialisations are nested, they
 * form a list, the innermost first. */
struct guard_once {
	void *control;
	void (*routine)(void);
	struct guard_once *outer;
};

static void over(struct guard_once **once)
{
	guard_releases((*once)->control);
	guard_local.once = (*once)->outer;
}

/* The release is recorded here, before other threads can see that the routine has been run. */
static void run(void)
{
	struct guard_once *once __attribute__((cleanup(over))) = guard_local.once;

	once->routine();
}

INTERPOSE(int, pthread_once, (pthread_once_t * control, void (*routine)(void)))
{
	struct guard_once once = {control, routine, guard_local.once};
	int r;

	guard_local.once = &once;
	r = REAL(pthread_once)(control, run);
	guard_local.once = once.outer;
	return got(r, control);
}

INTERPOSE(void, call_once, (once_flag * control, void (*routine)(void)))
{
	struct guard_once once = {control, routine, guard_local.once};

	guard_local.once = &once;
	REAL(call_once)(control, run);
	guard_local.once = once.outer;
	guard_acquired(control);
}

/* C++ guards of static locals.  The program itself tests the guard's first byte with an atomic
 * load. */
INTERPOSE(int, __cxa_guard_acquire, (void *object))
{
	int r = REAL(__cxa_guard_acquire)(object);

	guard_acquired(object);
	return r;
}

INTERPOSE(void, __cxa_guard_release, (void *object))
{
	guard_releases(object);
	REAL(__cxa_guard_release)(object);
}

GUARD_OWN(pthread_mutex_lock)
GUARD_OWN(pthread_mutex_trylock)
GUARD_OWN(pthread_mutex_unlock)
GUARD_OWN(pthread_rwlock_wrlock)
GUARD_OWN(pthread_rwlock_unlock)
GUARD_OWN(pthread_cond_signal)
GUARD_OWN(pthread_cond_broadcast)
