// SPDX-License-Identifier: Apache-2.0
/*
 * Locks and semaphores of a steered process: rt/core/sync.c comes here where it finds that a
 * thread is not plainly recorded.
 *
 * The same events in the same order as there, with a gate before each operation and the slot
 * showing what the thread waits for.  Results are errno values.  A thread that is
 * not recorded at all gets the real function and nothing else.
 */
#include "rt/steer/steer.h"

#include "rt/core/real.h"

#define A(p) ((uintptr_t)(p))

static int sem_errno(int r)
{
	return r ? errno : 0;
}

static int real_rwlock(uint32_t code, pthread_rwlock_t *rwlock, const struct rt_until *until)
{
	switch (code) {
	case RADDLE_RWLOCK_RDLOCK:
		return REAL(pthread_rwlock_rdlock)(rwlock);
	case RADDLE_RWLOCK_WRLOCK:
		return REAL(pthread_rwlock_wrlock)(rwlock);
	case RADDLE_RWLOCK_TRYRDLOCK:
		return REAL(pthread_rwlock_tryrdlock)(rwlock);
	case RADDLE_RWLOCK_TRYWRLOCK:
		return REAL(pthread_rwlock_trywrlock)(rwlock);
	case RADDLE_RWLOCK_TIMEDRDLOCK:
		return REAL(pthread_rwlock_clockrdlock)(rwlock, until->clock, until->time);
	default:
		return REAL(pthread_rwlock_clockwrlock)(rwlock, until->clock, until->time);
	}
}

static int real_acquire(uint32_t code, void *object, const struct rt_until *until)
{
	switch (code) {
	case RADDLE_MUTEX_LOCK:
		return REAL(pthread_mutex_lock)(object);
	case RADDLE_MUTEX_TRYLOCK:
		return REAL(pthread_mutex_trylock)(object);
	case RADDLE_MUTEX_TIMEDLOCK:
		return REAL(pthread_mutex_clocklock)(object, until->clock, until->time);
	case RADDLE_SPIN_LOCK:
		return REAL(pthread_spin_lock)(object);
	case RADDLE_SPIN_TRYLOCK:
		return REAL(pthread_spin_trylock)(object);
	case RADDLE_SEM_WAIT:
		return sem_errno(REAL(sem_wait)(object));
	case RADDLE_SEM_TRYWAIT:
		return sem_errno(REAL(sem_trywait)(object));
	case RADDLE_SEM_TIMEDWAIT:
		return sem_errno(REAL(sem_clockwait)(object, until->clock, until->time));
	default:
		return real_rwlock(code, object, until);
	}
}

/* The operation that never waits, and what is written if it has to. */
struct attempt {
	uint32_t code, request;
	uint64_t operand;
};

static struct attempt attempt_of(uint32_t code)
{
	bool shared = raddle_role(code) == RADDLE_ROLE_SHARE;

	if (raddle_manner(code) == RADDLE_MANNER_TRY)
		return (struct attempt){0};
	switch (raddle_class(code)) {
	case RADDLE_CLASS_MUTEX:
		return (struct attempt){RADDLE_MUTEX_TRYLOCK, RADDLE_MUTEX_REQUEST, RT_NONE};
	case RADDLE_CLASS_RWLOCK:
		return (struct attempt){shared ? RADDLE_RWLOCK_TRYRDLOCK : RADDLE_RWLOCK_TRYWRLOCK,
					RADDLE_RWLOCK_REQUEST, !shared};
	case RADDLE_CLASS_SPIN:
		return (struct attempt){RADDLE_SPIN_TRYLOCK, RADDLE_SPIN_REQUEST, RT_NONE};
	default:
		return (struct attempt){RADDLE_SEM_TRYWAIT, RADDLE_SEM_REQUEST, RT_NONE};
	}
}

/* Whether trying first gives the answer that the real function would give (rt/core/sync.c). */
static bool may_try(uint32_t code, const struct rt_until *until)
{
	if (!until)
		return true;
	if (until->clock != CLOCK_REALTIME && until->clock != CLOCK_MONOTONIC)
		return false;
	return code == RADDLE_MUTEX_TIMEDLOCK ||
	       (until->time->tv_nsec >= 0 && until->time->tv_nsec < 1000000000);
}

/* The real function would not wait for a thing that the thread has itself, but say so. */
static bool is_refused(uint32_t code, const void *object, uint32_t tid)
{
	const pthread_mutex_t *mutex = object;
	const pthread_rwlock_t *rwlock = object;

	if (raddle_class(code) == RADDLE_CLASS_MUTEX)
		return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK &&
		       (uint32_t)mutex->__data.__owner == tid;
	return raddle_class(code) == RADDLE_CLASS_RWLOCK && (uint32_t)rwlock->__data.__cur_writer == tid;
}

/* Others have their turns until the attempt works. */
static int wait_by_turns(struct rt_step *step, uint32_t attempt, void *object, const struct rt_until *until)
{
	int busy = attempt == RADDLE_SEM_TRYWAIT ? EAGAIN : EBUSY, r = busy;
	bool waits = true;

	while (r == busy && waits) {
		waits = rt_turn_wait(step, until);
		if (attempt == RADDLE_SEM_TRYWAIT)
			pthread_testcancel();
		r = real_acquire(attempt, object, NULL);
	}
	return r == busy ? ETIMEDOUT : r;
}

static int acquire(struct rt_step *step, uint32_t code, void *object, const struct rt_until *until)
{
	struct attempt a = attempt_of(code);
	bool sem = a.code == RADDLE_SEM_TRYWAIT;
	int r;

	if (!a.code || !may_try(code, until))
		return real_acquire(code, object, until);
	if (sem) {
		rt_step_block(step, A(object), true);
		pthread_testcancel();
		rt_step_unblock(step);
	}
	r = real_acquire(a.code, object, NULL);
	if (r != (sem ? EAGAIN : EBUSY))
		return r;
	rt_sync(step->t, a.request, A(object), a.operand);
	rt_step_block(step, A(object), until != NULL);
	if (rt_step_takes_turns(step) && !is_refused(code, object, step->t->steered.slot->tid))
		r = wait_by_turns(step, a.code, object, until);
	else
		r = real_acquire(code, object, until);
	rt_step_unblock(step);
	return r;
}

int rt_steered_acquire(uint32_t code, volatile void *volatile_object, const struct rt_until *until)
{
	void *object = (void *)volatile_object;
	int saved = errno, r;
	RT_STEP(step, code, A(object));
	struct rt_thread *t = step.t;

	if (t) {
		r = acquire(&step, code, object, until);
		rt_acquired(t, code, A(object), (uint64_t)r);
		rt_sync(t, code, A(object), (uint64_t)r);
		rt_step_end(&step);
	} else {
		r = real_acquire(code, object, until);
	}
	errno = saved;
	return r;
}

static int real_release(uint32_t code, void *object)
{
	switch (code) {
	case RADDLE_MUTEX_UNLOCK:
		return REAL(pthread_mutex_unlock)(object);
	case RADDLE_RWLOCK_UNLOCK:
		return REAL(pthread_rwlock_unlock)(object);
	case RADDLE_SPIN_UNLOCK:
		return REAL(pthread_spin_unlock)(object);
	default:
		return sem_errno(REAL(sem_post)(object));
	}
}

int rt_steered_release(uint32_t code, volatile void *volatile_object)
{
	void *object = (void *)volatile_object;
	int saved = errno, r;
	RT_STEP(step, code, A(object));
	struct rt_thread *t = step.t;
	struct rt_release release;
	struct rt_lost lost;

	if (t) {
		lost = rt_releasing(t, code, A(object));
		release = rt_release_begin(t, code, A(object));
		r = real_release(code, object);
		rt_release_end(t, &release, (uint64_t)r);
		rt_released(t, &lost, (uint64_t)r);
		rt_turn_released(A(object));
		rt_step_end(&step);
	} else {
		r = real_release(code, object);
	}
	errno = saved;
	return r;
}
