// SPDX-License-Identifier: Apache-2.0
/*
 * Operations of threads that are not RT_PLAIN.  Such a thread is either not recorded, or layers are
 * notified of its operations.  rt/core/sync/sync.c and cond.c call these functions.
 *
 * They write the same events in the same order as those files, and notify the layers of each
 * operation and of what the thread waits for.  Results are errno values.  For a thread that is not
 * recorded, only the real function is called, unless a layer replaces it.
 */
#include "rt/core/layer.h"
#include "rt/core/io/outside.h"
#include "rt/core/real.h"

#include <sys/syscall.h>

#define A(p) ((uintptr_t)(p))

static int sem_errno(int r)
{
	return r ? errno : 0;
}

/* The real deadline of a wait.  The program may have computed its deadline from replayed times. */
struct real_end {
	struct rt_until until;
	struct timespec time;
};

static const struct rt_until *really(const struct rt_until *until, struct real_end *end)
{
	if (!until || !rt.outside || !rt.outside->real_end)
		return until;
	end->time = *until->time;
	rt.outside->real_end(until->clock, &end->time);
	end->until = (struct rt_until){until->clock, &end->time};
	return &end->until;
}

static int real_rwlock(uint32_t code, pthread_rwlock_t *rwlock, const struct rt_until *until)
{
	switch (code) {
	case RADDLE_RWLOCK_RDLOCK: return REAL(pthread_rwlock_rdlock)(rwlock);
	case RADDLE_RWLOCK_WRLOCK: return REAL(pthread_rwlock_wrlock)(rwlock);
	case RADDLE_RWLOCK_TRYRDLOCK: return REAL(pthread_rwlock_tryrdlock)(rwlock);
	case RADDLE_RWLOCK_TRYWRLOCK: return REAL(pthread_rwlock_trywrlock)(rwlock);
	case RADDLE_RWLOCK_TIMEDRDLOCK:
		return REAL(pthread_rwlock_clockrdlock)(rwlock, until->clock, until->time);
	default: return REAL(pthread_rwlock_clockwrlock)(rwlock, until->clock, until->time);
	}
}

static int real_acquire(uint32_t code, void *object, const struct rt_until *until)
{
	switch (code) {
	case RADDLE_MUTEX_LOCK: return REAL(pthread_mutex_lock)(object);
	case RADDLE_MUTEX_TRYLOCK: return REAL(pthread_mutex_trylock)(object);
	case RADDLE_MUTEX_TIMEDLOCK: return REAL(pthread_mutex_clocklock)(object, until->clock, until->time);
	case RADDLE_SPIN_LOCK: return REAL(pthread_spin_lock)(object);
	case RADDLE_SPIN_TRYLOCK: return REAL(pthread_spin_trylock)(object);
	case RADDLE_SEM_WAIT: return sem_errno(REAL(sem_wait)(object));
	case RADDLE_SEM_TRYWAIT: return sem_errno(REAL(sem_trywait)(object));
	case RADDLE_SEM_TIMEDWAIT: return sem_errno(REAL(sem_clockwait)(object, until->clock, until->time));
	default: return real_rwlock(code, object, until);
	}
}

/* `code` is the variant of the operation that never waits, or 0 if there is none.  `request` is the
 * event that is written if the thread has to wait, and `operand` is its last operand. */
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
	case RADDLE_CLASS_MUTEX: return (struct attempt){RADDLE_MUTEX_TRYLOCK, RADDLE_MUTEX_REQUEST, RT_NONE};
	case RADDLE_CLASS_RWLOCK:
		return (struct attempt){shared ? RADDLE_RWLOCK_TRYRDLOCK : RADDLE_RWLOCK_TRYWRLOCK,
					RADDLE_RWLOCK_REQUEST, !shared};
	case RADDLE_CLASS_SPIN: return (struct attempt){RADDLE_SPIN_TRYLOCK, RADDLE_SPIN_REQUEST, RT_NONE};
	default: return (struct attempt){RADDLE_SEM_TRYWAIT, RADDLE_SEM_REQUEST, RT_NONE};
	}
}

/* Returns true if the non-waiting form of the operation may be tried first.  It must have the same
 * result as the real function (rt/core/sync/sync.c). */
static bool may_try(uint32_t code, const struct rt_until *until)
{
	if (!until)
		return true;
	if (until->clock != CLOCK_REALTIME && until->clock != CLOCK_MONOTONIC)
		return false;
	return code == RADDLE_MUTEX_TIMEDLOCK ||
	       (until->time->tv_nsec >= 0 && until->time->tv_nsec < 1000000000);
}

/* Returns true if the real function would return an error instead of waiting, because the thread
 * itself holds the object. */
static bool is_refused(const struct rt_thread *t, uint32_t code, const void *object)
{
	const pthread_mutex_t *mutex = object;
	const pthread_rwlock_t *rwlock = object;
	int self = (int)t->tid;

	if (raddle_class(code) == RADDLE_CLASS_MUTEX)
		return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK &&
		       mutex->__data.__owner == self;
	return raddle_class(code) == RADDLE_CLASS_RWLOCK && rwlock->__data.__cur_writer == self;
}

/* Lets other threads run until the attempt succeeds or the time is up. */
static int wait_by_turns(struct rt_op *op, uint32_t attempt, void *object, const struct rt_until *until)
{
	int busy = attempt == RADDLE_SEM_TRYWAIT ? EAGAIN : EBUSY, r = busy;
	bool waits = true;

	while (r == busy && waits) {
		waits = rt_op_wait(op, until);
		if (attempt == RADDLE_SEM_TRYWAIT)
			pthread_testcancel();
		r = real_acquire(attempt, object, NULL);
	}
	return r == busy ? ETIMEDOUT : r;
}

static int acquire(struct rt_op *op, uint32_t code, void *object, const struct rt_until *until)
{
	struct attempt a = attempt_of(code);
	bool sem = a.code == RADDLE_SEM_TRYWAIT;
	int r;

	if (!a.code || !may_try(code, until))
		return real_acquire(code, object, until);
	if (sem) {
		rt_op_waits(op, A(object), true);
		pthread_testcancel();
		rt_op_waited(op);
	}
	r = real_acquire(a.code, object, NULL);
	if (r != (sem ? EAGAIN : EBUSY))
		return r;
	rt_sync(op->t, a.request, A(object), a.operand);
	rt_op_waits(op, A(object), until != NULL);
	if (rt_op_turns(op) && !is_refused(op->t, code, object))
		r = wait_by_turns(op, a.code, object, until);
	else
		r = real_acquire(code, object, until);
	rt_op_waited(op);
	return r;
}

int rt_listened_acquire(uint32_t code, volatile void *volatile_object, const struct rt_until *until)
{
	void *object = (void *)volatile_object;
	int saved = errno, r;
	RT_OP(op, code, A(object));
	struct rt_thread *t = op.t;
	struct real_end end;

	until = really(until, &end);
	if (t) {
		if (code == RADDLE_RWLOCK_RDLOCK && rt_prefers_writers(object))
			rt_sync(t, RADDLE_RWLOCK_WRITERS, A(object), RT_NONE);
		r = acquire(&op, code, object, until);
		RT_NOTIFY(acquired, t, code, A(object), (uint64_t)r);
		rt_sync(t, code, A(object), (uint64_t)r);
		rt_op_end(&op);
	} else {
		r = real_acquire(code, object, until);
	}
	errno = saved;
	return r;
}

static int real_release(uint32_t code, void *object)
{
	switch (code) {
	case RADDLE_MUTEX_UNLOCK: return REAL(pthread_mutex_unlock)(object);
	case RADDLE_RWLOCK_UNLOCK: return REAL(pthread_rwlock_unlock)(object);
	case RADDLE_SPIN_UNLOCK: return REAL(pthread_spin_unlock)(object);
	default: return sem_errno(REAL(sem_post)(object));
	}
}

int rt_listened_release(uint32_t code, volatile void *volatile_object)
{
	void *object = (void *)volatile_object;
	int saved = errno, r;
	RT_OP(op, code, A(object));
	struct rt_thread *t = op.t;
	struct rt_release release;

	if (t) {
		rt_op_releasing(&op, code, A(object));
		release = rt_release_begin(t, code, A(object));
		r = real_release(code, object);
		rt_release_end(t, &release, (uint64_t)r);
		rt_op_released(&op, code, A(object), (uint64_t)r);
		rt_op_end(&op);
	} else {
		r = real_release(code, object);
	}
	errno = saved;
	return r;
}

/* Returns the functions of a layer that replace libc's, or NULL if no layer has such functions. */
static const struct rt_instead *instead(void)
{
	const struct rt_layer *const *layer = rt.listening;

	while (*layer && !(*layer)->instead)
		layer++;
	return *layer ? (*layer)->instead : NULL;
}

/* Condition variables. */

/* A bit of glibc's member __wrefs (2.25 and later).  It is set if the variable is shared with other
 * processes. */
#define SHARED 1u

static const struct rt_instead *instead_of(const pthread_cond_t *cond)
{
	return cond->__data.__wrefs & SHARED ? NULL : instead();
}

int rt_listened_notify(uint32_t code, pthread_cond_t *cond)
{
	const struct rt_instead *other = instead_of(cond);
	RT_OP(op, code, cond);
	bool all = code == RADDLE_COND_BROADCAST;
	int r = 0;

	rt_op_releasing(&op, code, A(cond));
	if (op.t)
		rt_sync(op.t, code, A(cond), RT_NONE);
	if (other)
		other->cond_notify(cond, all);
	else
		r = all ? REAL(pthread_cond_broadcast)(cond) : REAL(pthread_cond_signal)(cond);
	rt_op_end(&op);
	return r;
}

/* A wait that libc performs.  For layers, the wait operation ends just before the call of libc.
 * When the thread reaches the gate of the wake operation, it already holds the mutex. */
struct wait {
	struct rt_thread *t;
	const void *cond, *mutex;
	int result;
	struct rt_op wake;
};

static void begin_wait(struct wait *w, bool timed)
{
	RT_OP(op, RADDLE_COND_WAIT, A(w->cond));

	if (!w->t)
		return;
	RT_EVENT(w->t, RADDLE_COND_WAIT, RT_Q, RT_T, A(w->cond), A(w->mutex), timed);
	rt_op_releasing(&op, RADDLE_MUTEX_UNLOCK, A(w->mutex));
	rt_op_released(&op, RADDLE_MUTEX_UNLOCK, A(w->mutex), 0);
	rt_op_end(&op);
	rt_op_begin(&w->wake, w->t, RADDLE_COND_WAKE, A(w->cond));
	rt_op_waits(&w->wake, A(w->cond), timed);
}

static void end_wait(struct wait *w)
{
	int saved = errno;

	if (w->t) {
		rt_op_gate(&w->wake);
		RT_NOTIFY(acquired, w->t, RADDLE_MUTEX_LOCK, A(w->mutex), 0);
		RT_NOTIFY(acquired, w->t, RADDLE_COND_WAKE, A(w->cond), 0);
		RT_EVENT(w->t, RADDLE_COND_WAKE, RT_Q, RT_T, A(w->cond), A(w->mutex), (uint64_t)w->result);
		rt_op_end(&w->wake);
	}
	errno = saved;
}

static int real_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct rt_until *until)
{
	struct wait w __attribute__((cleanup(end_wait))) = {
		.t = rt_self(), .cond = cond, .mutex = mutex, .result = ECANCELED};

	begin_wait(&w, until != NULL);
	w.result = until ? REAL(pthread_cond_clockwait)(cond, mutex, until->clock, until->time)
			 : REAL(pthread_cond_wait)(cond, mutex);
	return w.result;
}

int rt_listened_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct rt_until *until)
{
	const struct rt_instead *other = instead_of(cond);
	struct real_end end;

	until = really(until, &end);
	return other ? other->cond_wait(cond, mutex, until) : real_wait(cond, mutex, until);
}

/* Barriers. */

static struct rt_arrival arrive(const pthread_barrier_t *barrier)
{
	const struct rt_instead *other = instead();
	struct rt_thread *t = rt_self();
	struct rt_arrival arrival = {0};
	RT_OP(op, RADDLE_BARRIER_ENTER, A(barrier));

	rt_op_releasing(&op, RADDLE_BARRIER_ENTER, A(barrier));
	if (t)
		rt_sync(t, RADDLE_BARRIER_ENTER, A(barrier), RT_NONE);
	if (other)
		arrival = other->barrier_arrive(barrier);
	rt_op_end(&op);
	return arrival;
}

static int await(struct rt_op *op, const struct rt_arrival *arrival, pthread_barrier_t *barrier)
{
	return arrival->barrier ? instead()->barrier_await(op, arrival) : REAL(pthread_barrier_wait)(barrier);
}

int rt_listened_barrier(pthread_barrier_t *barrier)
{
	struct rt_arrival arrival = arrive(barrier);
	struct rt_thread *t = rt_self();
	struct rt_op op;
	int r;

	op.t = NULL;
	if (!t)
		return await(&op, &arrival, barrier);
	rt_op_begin(&op, t, RADDLE_BARRIER_EXIT, A(barrier));
	if (!arrival.last)
		rt_op_waits(&op, A(barrier), false);
	r = await(&op, &arrival, barrier);
	rt_op_gate(&op);
	RT_NOTIFY(acquired, t, RADDLE_BARRIER_EXIT, A(barrier), 0);
	rt_sync(t, RADDLE_BARRIER_EXIT, A(barrier), r == PTHREAD_BARRIER_SERIAL_THREAD);
	rt_op_end(&op);
	return r;
}
