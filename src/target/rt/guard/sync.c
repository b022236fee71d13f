// SPDX-License-Identifier: Apache-2.0
/*
 * Locks, waits, barriers, semaphores and one-time initialisation, of pthread, C11 and C++.  Each
 * function calls the real one and tests whether an access is tracked: an acquiring function after
 * the call, a releasing one before it.
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

/* ---- mutexes ---- */

INTERPOSE(int, pthread_mutex_lock, (pthread_mutex_t * mutex))
{
	return got(REAL(pthread_mutex_lock)(mutex), mutex);
}

INTERPOSE(int, pthread_mutex_trylock, (pthread_mutex_t * mutex))
{
	return got(REAL(pthread_mutex_trylock)(mutex), mutex);
}

INTERPOSE(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *until))
{
	return got(REAL(pthread_mutex_timedlock)(mutex, until), mutex);
}

INTERPOSE(int, pthread_mutex_clocklock,
	  (pthread_mutex_t * mutex, clockid_t clock, const struct timespec *until))
{
	return got(REAL(pthread_mutex_clocklock)(mutex, clock, until), mutex);
}

INTERPOSE(int, pthread_mutex_unlock, (pthread_mutex_t * mutex))
{
	guard_releases(mutex);
	return REAL(pthread_mutex_unlock)(mutex);
}

INTERPOSE(int, mtx_lock, (mtx_t * mutex))
{
	return got_c11(REAL(mtx_lock)(mutex), mutex);
}

INTERPOSE(int, mtx_trylock, (mtx_t * mutex))
{
	return got_c11(REAL(mtx_trylock)(mutex), mutex);
}

INTERPOSE(int, mtx_timedlock, (mtx_t * mutex, const struct timespec *until))
{
	return got_c11(REAL(mtx_timedlock)(mutex, until), mutex);
}

INTERPOSE(int, mtx_unlock, (mtx_t * mutex))
{
	guard_releases(mutex);
	return REAL(mtx_unlock)(mutex);
}

INTERPOSE(int, pthread_spin_lock, (pthread_spinlock_t * lock))
{
	return got(REAL(pthread_spin_lock)(lock), lock);
}

INTERPOSE(int, pthread_spin_trylock, (pthread_spinlock_t * lock))
{
	return got(REAL(pthread_spin_trylock)(lock), lock);
}

INTERPOSE(int, pthread_spin_unlock, (pthread_spinlock_t * lock))
{
	guard_releases(lock);
	return REAL(pthread_spin_unlock)(lock);
}

INTERPOSE(void, flockfile, (FILE * stream))
{
	REAL(flockfile)(stream);
	guard_acquired(stream);
}

INTERPOSE(int, ftrylockfile, (FILE * stream))
{
	return got(REAL(ftrylockfile)(stream), stream);
}

INTERPOSE(void, funlockfile, (FILE * stream))
{
	guard_releases(stream);
	REAL(funlockfile)(stream);
}

/* ---- read-write locks ---- */

INTERPOSE(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock))
{
	return got_shared(REAL(pthread_rwlock_rdlock)(lock), lock);
}

INTERPOSE(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock))
{
	return got_shared(REAL(pthread_rwlock_tryrdlock)(lock), lock);
}

INTERPOSE(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const struct timespec *until))
{
	return got_shared(REAL(pthread_rwlock_timedrdlock)(lock, until), lock);
}

INTERPOSE(int, pthread_rwlock_clockrdlock,
	  (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until))
{
	return got_shared(REAL(pthread_rwlock_clockrdlock)(lock, clock, until), lock);
}

INTERPOSE(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock))
{
	return got(REAL(pthread_rwlock_wrlock)(lock), lock);
}

INTERPOSE(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock))
{
	return got(REAL(pthread_rwlock_trywrlock)(lock), lock);
}

INTERPOSE(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const struct timespec *until))
{
	return got(REAL(pthread_rwlock_timedwrlock)(lock, until), lock);
}

INTERPOSE(int, pthread_rwlock_clockwrlock,
	  (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until))
{
	return got(REAL(pthread_rwlock_clockwrlock)(lock, clock, until), lock);
}

/* glibc stores the thread that holds the lock for writing; the field is 0 while it is held for
 * reading. */
INTERPOSE(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock))
{
	if (guard_tracks())
		guard_note_release(lock, lock->__data.__cur_writer ? GUARD_EXCLUSIVE : GUARD_SHARED);
	return REAL(pthread_rwlock_unlock)(lock);
}

/* ---- condition variables ---- */

/* The mutex is held again however the wait ends, even if the thread is cancelled in it. */
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

INTERPOSE(int, pthread_cond_signal, (pthread_cond_t * condition))
{
	guard_releases(condition);
	return REAL(pthread_cond_signal)(condition);
}

INTERPOSE(int, pthread_cond_broadcast, (pthread_cond_t * condition))
{
	guard_releases(condition);
	return REAL(pthread_cond_broadcast)(condition);
}

INTERPOSE(int, cnd_signal, (cnd_t * condition))
{
	guard_releases(condition);
	return REAL(cnd_signal)(condition);
}

INTERPOSE(int, cnd_broadcast, (cnd_t * condition))
{
	guard_releases(condition);
	return REAL(cnd_broadcast)(condition);
}

/* ---- barriers, semaphores ---- */

INTERPOSE(int, pthread_barrier_wait, (pthread_barrier_t * barrier))
{
	int r;

	guard_releases(barrier);
	r = REAL(pthread_barrier_wait)(barrier);
	guard_acquired(barrier);
	return r;
}

INTERPOSE(int, sem_wait, (sem_t * semaphore))
{
	return got(REAL(sem_wait)(semaphore), semaphore);
}

INTERPOSE(int, sem_trywait, (sem_t * semaphore))
{
	return got(REAL(sem_trywait)(semaphore), semaphore);
}

INTERPOSE(int, sem_timedwait, (sem_t * semaphore, const struct timespec *until))
{
	return got(REAL(sem_timedwait)(semaphore, until), semaphore);
}

INTERPOSE(int, sem_clockwait, (sem_t * semaphore, clockid_t clock, const struct timespec *until))
{
	return got(REAL(sem_clockwait)(semaphore, clock, until), semaphore);
}

INTERPOSE(int, sem_post, (sem_t * semaphore))
{
	guard_releases(semaphore);
	return REAL(sem_post)(semaphore);
}

/* ---- one-time initialisation ---- */

/* The one-time initialisations that the thread runs, the innermost first. */
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

/* The release is recorded here, before other threads can find that the routine has been run. */
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
