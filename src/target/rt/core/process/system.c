// SPDX-License-Identifier: Apache-2.0
/*
 * System services of the runtime: memory, futexes, time and rt.lock.  They make system calls
 * directly; only the clock is read through libc.  So they call no libc function that takes a lock,
 * and they preserve the program's errno.
 */
#include "rt/core/one.h"
#include "rt/core/real.h"
#include "rt/core/tables.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long map(size_t size)
{
	return syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
}

/* Takes memory from the reserve (rt/core/tables.h).  Returns NULL if too little is left. */
static void *take_reserve(size_t size)
{
	char *p = rt_tables.reserve.at;

	size = (size + rt.page - 1) & -rt.page;
	if (RT_LIKELY((size_t)(rt_tables.reserve.end - p) < size))
		return NULL;
	rt_tables.reserve.at = p + size;
	return p;
}

static bool is_reserve(const void *p)
{
	return (const char *)p >= rt_tables.reserve.start && (const char *)p < rt_tables.reserve.end;
}

void *rt_map(size_t size)
{
	int saved = errno;
	long p = (long)take_reserve(size);

	if (p)
		return (void *)p;
	p = map(size);

	if (p == -1 && rt_make_room(size))
		p = map(size);
	if (p != -1) {
		atomic_fetch_add_explicit(&rt.mapped, size, memory_order_relaxed);
		syscall(SYS_madvise, p, size, MADV_NOHUGEPAGE);
		syscall(SYS_madvise, p, size, MADV_DONTDUMP);
	}
	if (p == -1)
		rt_refused(ENOMEM);
	errno = saved;
	return p == -1 ? NULL : (void *)p;
}

void rt_unmap(void *p, size_t size)
{
	int saved = errno;

	if (is_reserve(p))
		return;
	syscall(SYS_munmap, p, size);
	atomic_fetch_sub_explicit(&rt.mapped, size, memory_order_relaxed);
	errno = saved;
}

uint64_t rt_now(void)
{
	struct timespec now;

	REAL(clock_gettime)(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * Reading the processor's tick counter costs less than half as much as reading the clock.  If the
 * counter runs at constant speed, a thread reads both from time to time, and then reads only the
 * counter for the next TRUST ticks, which take a fraction of a millisecond.  The error stays below
 * that fraction, even if the counters of two processors disagree or the clock is being adjusted.
 */
#define TRUST (1u << 20)
#define MEASURE (1u << 22) /* minimum number of ticks over which the speed is measured */
/* Ticks; if reading the clock takes longer, the reading is not used. */
#define UNDISTURBED (1u << 12)

#if defined(__x86_64__)
void rt_clock_setup(void)
{
	uint32_t a, b, c, d;

	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
		return;
	rt.clock_tick = __builtin_ia32_rdtsc();
	rt.clock_ns = rt_now();
}

static __attribute__((noinline, cold)) uint64_t look_at_clock(struct rt_thread *t, uint64_t tick)
{
	uint64_t ns = rt_now(), spent = ns - rt.clock_ns, ticks = tick - rt.clock_tick;

	if (!rt.clock_tick || ticks < MEASURE || __builtin_ia32_rdtsc() - tick > UNDISTURBED)
		return ns;
	while (spent >> 31) {
		spent >>= 1;
		ticks >>= 1;
	}
	t->clock_tick = tick;
	t->clock_ns = ns;
	t->clock_scale = (spent << 32) / ticks;
	return ns;
}

uint64_t rt_now_soon(struct rt_thread *t)
{
	uint64_t tick = __builtin_ia32_rdtsc(), since = tick - t->clock_tick;

	if (RT_LIKELY(since < TRUST))
		return t->clock_ns + (since * t->clock_scale >> 32);
	return look_at_clock(t, tick);
}
#else
void rt_clock_setup(void)
{
}

uint64_t rt_now_soon(struct rt_thread *t)
{
	(void)t;
	return rt_now();
}
#endif

int rt_futex_wait(_Atomic uint32_t *word, uint32_t value, uint32_t milliseconds)
{
	struct timespec timeout = {milliseconds / 1000, milliseconds % 1000 * 1000000L};

	return rt_bare(SYS_futex, (long)word, FUTEX_WAIT, value, (long)&timeout) ? -1 : 0;
}

void rt_futex_wake(_Atomic uint32_t *word, uint32_t count)
{
	rt_bare(SYS_futex, (long)word, FUTEX_WAKE, count);
}

/* Signals are blocked first, so that a handler never waits for a lock held by the thread that it
 * interrupted. */
void rt_lock(uint64_t *saved_signals)
{
	int saved = errno;

	rt_defer_signals(saved_signals);
	while (atomic_exchange_explicit(&rt.lock, 1, memory_order_acquire))
		syscall(SYS_sched_yield);
	errno = saved;
}

void rt_unlock(const uint64_t *saved_signals)
{
	int saved = errno;

	atomic_store_explicit(&rt.lock, 0, memory_order_release);
	rt_allow_signals(saved_signals);
	errno = saved;
}

void rt_block_signals(uint64_t *old)
{
	uint64_t all = RT_ALL_SIGNALS;
	int saved = errno;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, old, sizeof all);
	errno = saved;
}

void rt_restore_signals(const uint64_t *old)
{
	int saved = errno;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, old, NULL, sizeof *old);
	errno = saved;
}

/* If the saved mask is RT_ALL_SIGNALS, the mask was not changed.  No thread's mask has this value,
 * since SIGKILL cannot be blocked. */
void rt_defer_signals(uint64_t *old)
{
	*old = RT_ALL_SIGNALS;
	if (!rt_is_alone())
		rt_block_signals(old);
}

void rt_allow_signals(const uint64_t *old)
{
	if (*old != RT_ALL_SIGNALS)
		rt_restore_signals(old);
}

void rt_pause(uint32_t round)
{
	int saved = errno;

	if (round < RT_SPINS) {
		__builtin_ia32_pause();
		return;
	}
	syscall(SYS_sched_yield);
	errno = saved;
}

/* Returns the mark by which a lock identifies its owner.  The states of threads are pages apart, so
 * their marks differ. */
static uint32_t own_mark(void)
{
	return (uint32_t)((uintptr_t)__raddle_self >> 12) | 1u << 31;
}

bool rt_spin(_Atomic uint32_t *lock)
{
	for (uint32_t round = 0; round < RT_PATIENCE; round++) {
		if (!atomic_load_explicit(lock, memory_order_relaxed) && rt_try(lock, own_mark()))
			return true;
		rt_pause(round);
	}
	return false;
}

void rt_spin_leave(_Atomic uint32_t *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}

void rt_spin_recover(_Atomic uint32_t *lock)
{
	if (atomic_load_explicit(lock, memory_order_relaxed) == own_mark())
		rt_spin_leave(lock);
}
