// SPDX-License-Identifier: Apache-2.0
/*
 * Records what interposed functions and instrumented code report about the order of threads, while
 * an access is tracked.  Each call holds the lock briefly.  If an operation cannot be recorded,
 * tracking of all accesses ends, since a wrong verdict would be worse than none.
 */
#include "rt/guard/guard.h"

#include <errno.h>
#include <sched.h>
#include <sys/stat.h>

enum {
	/* The number of attempts to take the lock before the thread yields.  The lock is held only
	 * briefly. */
	SPINS = 200,
	YIELDS = 2000, /* yields before tracking ends; threads in production must not wait longer */
};

bool guard_lock(void)
{
	if (guard_local.busy) {
		atomic_store(&guard.lost, 1);
		return false;
	}
	guard_local.busy = 1;
	for (uint32_t i = 0; i < SPINS + YIELDS; i++) {
		uint32_t open = 0;

		if (atomic_compare_exchange_weak_explicit(&guard.lock, &open, 1, memory_order_acquire,
							  memory_order_relaxed)) {
			if (GUARD_UNLIKELY(atomic_exchange(&guard.lost, 0)))
				guard_lost();
			return true;
		}
		if (i < SPINS)
			__builtin_ia32_pause();
		else
			sched_yield();
	}
	guard_local.busy = 0;
	atomic_store(&guard.lost, 1);
	return false;
}

void guard_unlock(void)
{
	if (GUARD_UNLIKELY(atomic_load_explicit(&guard.lost, memory_order_relaxed)) &&
	    atomic_exchange(&guard.lost, 0))
		guard_lost();
	atomic_store_explicit(&guard.lock, 0, memory_order_release);
	guard_local.busy = 0;
}

/* If something is tracked, takes the lock and returns the calling thread; otherwise NULL. */
static struct guard_thread *enter(void)
{
	struct guard_thread *t = guard_self();

	if (!t || !guard_lock())
		return NULL;
	if (guard_tracks())
		return t;
	guard_unlock();
	return NULL;
}

static void leave(const struct guard_thread *t, struct guard_mask before)
{
	uint32_t news = t->mask.sure & ~before.sure;

	if (news)
		guard_learnt(news);
	guard_unlock();
}

GUARD_RARE void guard_note_acquire(const volatile void *object, enum guard_way way)
{
	int saved = errno;
	struct guard_thread *t = enter();

	if (t) {
		struct guard_mask before = t->mask;

		guard_track_acquire(t, (uintptr_t)object, way);
		leave(t, before);
	}
	errno = saved;
}

GUARD_RARE void guard_note_release(const volatile void *object, enum guard_way way)
{
	int saved = errno;
	struct guard_thread *t = enter();

	if (t) {
		guard_track_release(t, (uintptr_t)object, way);
		guard_unlock();
	}
	errno = saved;
}

/* A fence makes the relaxed operations before or after it acquire or release. */
static void note_fence(struct guard_thread *t, uint32_t what)
{
	if (what & RADDLE_GUARD_ACQUIRE)
		guard_mask_add(&t->mask, t->pending);
	if (what & RADDLE_GUARD_RELEASE)
		t->fence = t->mask;
}

void guard_note_atomic(const volatile void *object, uint32_t what)
{
	uintptr_t address = (uintptr_t)object;
	int saved = errno;
	struct guard_thread *t = enter();

	if (t) {
		struct guard_mask before = t->mask;

		if (what & RADDLE_GUARD_FENCE)
			note_fence(t, what);
		else if (what & RADDLE_GUARD_ACQUIRE)
			guard_track_acquire(t, address, GUARD_EXCLUSIVE);
		else if (what & RADDLE_GUARD_RELAXED_LOAD)
			guard_mask_add(&t->pending, guard_track_of(address));
		if (what & RADDLE_GUARD_FENCE)
			;
		else if (what & RADDLE_GUARD_RELEASE)
			guard_track_release(t, address, GUARD_EXCLUSIVE);
		else if (what & RADDLE_GUARD_RELAXED_STORE)
			guard_track_publish(&t->fence, address);
		leave(t, before);
	}
	errno = saved;
}

/* Everything outside the program is treated as one object.  Order through it is never certain. */
static const char outside;

void guard_note_outside(bool leaving)
{
	if (leaving)
		guard_note_release(&outside, GUARD_WEAK);
	else
		guard_note_acquire(&outside, GUARD_WEAK);
}

/* Terminals and directories do not order threads.  A regular file may order its readers after its
 * writers.  The other end of a pipe or socket is unknown, so a receiver may be ordered after every
 * thread that sent something. */
GUARD_RARE void guard_note_descriptor(int fd, bool leaving)
{
	int saved = errno;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		guard_note_outside(leaving);
	} else if (S_ISREG(st.st_mode)) {
		uintptr_t file = (st.st_ino * 31 + st.st_dev) | (uintptr_t)1
									<< 63; /* no address is that high */

		if (leaving)
			guard_note_release((void *)file, GUARD_WEAK);
		else
			guard_note_acquire((void *)file, GUARD_WEAK);
	} else if (!S_ISCHR(st.st_mode) && !S_ISDIR(st.st_mode)) {
		guard_note_outside(leaving);
	}
	errno = saved;
}

/* Ends tracking of accesses to freed memory.  Whatever is later allocated at the same address is
 * another object, and the allocator orders the thread that gets it after this one. */
GUARD_RARE void guard_note_gone(const void *memory, size_t size)
{
	int saved = errno;
	struct guard_thread *t = enter();

	if (t) {
		guard_gone((uintptr_t)memory, (uintptr_t)memory + size);
		guard_unlock();
	}
	errno = saved;
}
