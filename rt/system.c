// SPDX-License-Identifier: Apache-2.0
/*
 * System services of the runtime: memory, futexes, time and the one lock, made
 * of bare system calls so that no interposed or locking libc function is
 * involved and errno stays the program's.
 */
#include "rt/rt.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void *rt_map(size_t size)
{
	int saved = errno;
	long p = syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);

	if (p != -1) {
		syscall(SYS_madvise, p, size, MADV_NOHUGEPAGE);
		syscall(SYS_madvise, p, size, MADV_DONTDUMP);
	}
	errno = saved;
	return p == -1 ? NULL : (void *)p;
}

void rt_unmap(void *p, size_t size)
{
	int saved = errno;

	syscall(SYS_munmap, p, size);
	errno = saved;
}

uint64_t rt_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int rt_futex_wait(_Atomic uint32_t *word, uint32_t value, uint32_t milliseconds)
{
	struct timespec timeout = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
	int saved = errno;
	int r = (int)syscall(SYS_futex, word, FUTEX_WAIT, value, &timeout, NULL, 0);

	errno = saved;
	return r;
}

void rt_futex_wake(_Atomic uint32_t *word, uint32_t count)
{
	int saved = errno;

	syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
	errno = saved;
}

/* Signals are blocked first, so that a handler cannot meet the lock held by the
 * thread it interrupted. */
void rt_lock(uint64_t *saved_signals)
{
	uint64_t all = ~0ull;
	int saved = errno;

	syscall(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, saved_signals, sizeof all);
	while (atomic_exchange_explicit(&rt.lock, 1, memory_order_acquire))
		syscall(SYS_sched_yield);
	errno = saved;
}

void rt_unlock(const uint64_t *saved_signals)
{
	int saved = errno;

	atomic_store_explicit(&rt.lock, 0, memory_order_release);
	syscall(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, saved_signals, NULL, sizeof *saved_signals);
	errno = saved;
}
