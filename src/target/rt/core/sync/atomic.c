// SPDX-License-Identifier: Apache-2.0
/*
 * Records the atomic operations and fences of the program.
 *
 * begin() takes one of RT_ATOMIC_LOCKS locks, chosen by the address.  end() draws the operation's
 * number q and releases the lock.  So operations on one location happen in the order of their q.  A
 * signal handler that interrupts a thread between begin() and end() executes its own atomic
 * operations without a lock, since it could otherwise wait for itself.
 *
 * If the operation faults and a handler leaves by longjmp, the thread still holds the lock.  It
 * notices that at its next atomic operation, and releases the lock first.  Meanwhile, another
 * thread that waits for the lock takes it over after RT_PATIENCE rounds.  The lock stores its
 * owner, so the former owner then does not release it.
 *
 * No thread holds two of these locks, or takes one while it holds another lock of the runtime.
 */
#include "rt/common/hash.h"
#include "raddle/full.h"
#include "rt/core/layer.h"
#include "rt/core/one.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic uint32_t *lock_of(const volatile void *p)
{
	uint64_t hash = rt_hash((uintptr_t)p >> 3);

	return &rt.atomic_locks[hash >> 32 & (RT_ATOMIC_LOCKS - 1)];
}

static void yield(void)
{
	int saved = errno;

	syscall(SYS_sched_yield);
	errno = saved;
}

/* Returns the value that a lock has while the thread holds it.  It is never 0. */
static uint32_t owner_of(const struct rt_thread *t)
{
	return t->number + 1;
}

/* Takes the lock.  Returns false if the thread took it over from an owner that may still be
 * executing an operation. */
static bool acquire(_Atomic uint32_t *lock, uint32_t owner)
{
	for (uint32_t round = 0; round < RT_PATIENCE; round++) {
		uint32_t none = 0;

		if (RT_LIKELY(rt.one) && rt_try(lock, owner))
			return true;
		if (!atomic_load_explicit(lock, memory_order_relaxed) &&
		    atomic_compare_exchange_strong_explicit(lock, &none, owner, memory_order_acquire,
							    memory_order_relaxed))
			return true;
		if (round < RT_SPINS)
			__builtin_ia32_pause();
		else
			yield();
	}
	atomic_store_explicit(lock, owner, memory_order_relaxed);
	return false;
}

/* Records that the numbers q may not reflect the order of the operations, because one of them was
 * executed without the lock. */
static __attribute__((noinline, cold)) void note_doubt(struct rt_thread *t)
{
	if (t->recording)
		rt_outside_event(t, RADDLE_OUTSIDE_HIDDEN);
}

static void release(struct rt_thread *t)
{
	/* If another thread takes over the lock between the load and the store, it may lose the
	 * lock again.  An atomic exchange would prevent that, but would make every operation
	 * slower. */
	if (RT_LIKELY(atomic_load_explicit(t->atomic_lock, memory_order_relaxed) == owner_of(t)))
		atomic_store_explicit(t->atomic_lock, 0, memory_order_release);
	t->atomic_lock = NULL;
}

/* Layers are notified before the lock is taken, because a layer may make the thread wait. */
static __attribute__((noinline, cold)) void notify_begin(struct rt_thread *t, const volatile void *p,
							 uint64_t what)
{
	t->atomic_what = what;
	RT_NOTIFY(access, t, (uintptr_t)p, RADDLE_ATOMIC_SIZE(what), (uint32_t)what,
		  RT_ACCESS_ATOMIC | (RADDLE_ATOMIC_WRITES(what) ? RT_ACCESS_WRITE : RT_ACCESS_READ) |
			  (what & RADDLE_STOP_IDLE ? RT_ACCESS_IDLE : 0));
}

__attribute__((visibility("default"))) void __raddle_atomic_begin(struct raddle_self *self,
								  const volatile void *p, uint64_t what)
{
	struct rt_thread *t = self == &rt_placeholder ? rt_self() : (struct rt_thread *)self;
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	_Atomic uint32_t *lock;

	if (!t)
		return;
	if (t->recording != RT_PLAIN) {
		if (!t->recording)
			return;
		notify_begin(t, p, what);
	}
	if (t->atomic_lock && frame >= t->atomic_frame)
		release(t);
	if (t->atomic_lock) {
		RT_NOTIFY(atomic_alone, t, (uintptr_t)p);
		note_doubt(t);
		return;
	}
	lock = lock_of(p);
	if (!acquire(lock, owner_of(t)))
		note_doubt(t);
	t->atomic_frame = frame;
	t->atomic_lock = lock;
}

/* Draws the number q of the record while the thread holds the lock. */
static inline __attribute__((always_inline)) void emit(struct rt_thread *t, const volatile void *p,
						       struct rt_record *r)
{
	if (t->recording) {
		r->code |= rt_encoder_take(t);
		r->operand[0] = rt_unread() ? 0 : rt_q();
		r->operand[1] = (uintptr_t)p;
	}
	if (t->atomic_lock && t->atomic_lock == lock_of(p))
		release(t);
	if (t->recording)
		rt_emit(t, r);
}

/* A relaxed update after a fence may act as a release, so it ends the segment. */
static inline uint32_t flags_of(const struct rt_thread *t, uint32_t flags)
{
	return t->fenced ? flags & ~RADDLE_ATOMIC_PASSED : flags;
}

static inline __attribute__((always_inline)) void end(struct rt_thread *t, const volatile void *p,
						      uint32_t site, uint32_t flags)
{
	struct rt_record r = {
		.code = RADDLE_ATOMIC, .site = site, .count = 3, .operand = {0, 0, flags_of(t, flags)}};

	emit(t, p, &r);
}

/* Returns RT_ACCESS_ACQUIRES_NOT, RT_ACCESS_RELEASES_NOT, both or neither, as the memory order
 * requires.  A store that does not read never acquires, whatever its order. */
static uint32_t orders_not(uint64_t what)
{
	uint32_t order = RADDLE_ATOMIC_ORDER(what);
	bool reads = RADDLE_ATOMIC_READS(what) || !RADDLE_ATOMIC_WRITES(what);

	if (!order)
		return 0;
	return (order == 1 || order == 3 || !reads ? RT_ACCESS_ACQUIRES_NOT : 0) |
	       (order == 1 || order == 2 ? RT_ACCESS_RELEASES_NOT : 0);
}

static void notify_end(struct rt_thread *t, const volatile void *p, uint32_t site, uint32_t flags)
{
	uint32_t how = (flags & RADDLE_ATOMIC_STORED ? RT_ACCESS_WRITE : RT_ACCESS_READ) |
		       ((uint32_t)t->atomic_what == site ? orders_not(t->atomic_what) : 0);

	if (t->recording)
		RT_NOTIFY(atomic, t, (uintptr_t)p, RADDLE_ATOMIC_SIZE(t->atomic_what), site, how);
}

static __attribute__((noinline, cold)) void notified_end(struct rt_thread *t, const volatile void *p,
							 uint32_t site, uint32_t flags)
{
	notify_end(t, p, site, flags);
	end(t, p, site, flags);
}

__attribute__((visibility("default"))) void
__raddle_atomic_end(struct raddle_self *self, const volatile void *p, uint32_t site, uint32_t flags)
{
	struct rt_thread *t = self == &rt_placeholder ? rt_self() : (struct rt_thread *)self;

	if (!t)
		return;
	if (t->recording != RT_PLAIN) {
		notified_end(t, p, site, flags);
	} else if (RT_LIKELY(rt_atomic(t, (uintptr_t)p, site, flags_of(t, flags)))) {
		if (t->atomic_lock && t->atomic_lock == lock_of(p))
			release(t);
	} else {
		end(t, p, site, flags);
	}
}

__attribute__((visibility("default"))) void
__raddle_atomic_values(struct raddle_self *self, const volatile void *p, uint32_t site, uint32_t flags,
		       uint64_t old, uint64_t old_high, uint64_t now, uint64_t now_high)
{
	struct rt_thread *t = self == &rt_placeholder ? rt_self() : (struct rt_thread *)self;
	struct rt_record r = {.code = RADDLE_ATOMIC,
			      .site = site,
			      .count = 7,
			      .operand = {0, 0, 0, old, old_high, now, now_high}};

	if (!t)
		return;
	r.operand[2] = flags_of(t, flags);
	if (t->recording == RT_LISTENED)
		notify_end(t, p, site, flags);
	emit(t, p, &r);
}

__attribute__((visibility("default"))) void __raddle_fence(struct raddle_self *self, uint32_t site)
{
	struct rt_thread *t = self == &rt_placeholder ? rt_self() : (struct rt_thread *)self;
	struct rt_record r = {.code = RADDLE_FENCE, .site = site, .count = 1};

	if (!t || !t->recording)
		return;
	t->fenced = true;
	if (t->recording != RT_PLAIN)
		RT_NOTIFY(fence, t);
	r.operand[0] = RT_Q;
	rt_emit(t, &r);
}
