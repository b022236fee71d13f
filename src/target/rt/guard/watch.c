// SPDX-License-Identifier: Apache-2.0
/*
 * The hardware's view of a held access: while a thread is held, a watchpoint lies on the address, and the
 * processor itself says that another thread touched it.  That is a second proof beside the guard of the other
 * access; the system may refuse it, and then there is none.
 *
 * The event is opened before any other thread exists, so that all inherit it; moving it to an address reaches
 * them all.  A hit is a SIGTRAP in the thread that made it.  Traps that are not ours go to the handler that
 * was there before.
 */
#include "rt/guard/real.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MARK = 0x52616464, MAX_HITS = 8, HIGH_DESCRIPTOR = 900 };

static int event = -1;
static _Atomic uint32_t armed, hits;
static struct sigaction before;

static struct perf_event_attr attributes(uintptr_t address, uint64_t size, bool writes_only)
{
	struct perf_event_attr a = {.type = PERF_TYPE_BREAKPOINT, .size = sizeof a};

	a.bp_type = writes_only ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW;
	a.bp_addr = address;
	a.bp_len = size;
	a.sample_period = 1;
	a.disabled = 1;
	a.exclude_kernel = a.exclude_hv = 1;
	a.sigtrap = a.remove_on_exec = 1;
	a.inherit = a.inherit_thread = 1;
	a.sig_data = MARK;
	return a;
}

/* Where the kernel puts attr.sig_data, which not every libc has a name for. */
static bool is_ours(const siginfo_t *info)
{
	uint64_t data;

	if (info->si_code != 6 /* TRAP_PERF */)
		return false;
	__builtin_memcpy(&data, (const char *)info + 24, sizeof data);
	return data == MARK;
}

static void trapped(int number, siginfo_t *info, void *context)
{
	if (is_ours(info)) {
		int saved = errno;

		if (atomic_fetch_add(&hits, 1) + 1 >= MAX_HITS)
			ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
		errno = saved;
	} else if (before.sa_flags & SA_SIGINFO) {
		before.sa_sigaction(number, info, context);
	} else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
		before.sa_handler(number);
	} else {
		sigaction(SIGTRAP, &before, NULL);
		raise(SIGTRAP);
	}
}

bool guard_watch_open(void)
{
	static uint64_t nothing;
	struct perf_event_attr a = attributes((uintptr_t)&nothing, 8, false);
	struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
	long fd = REAL(syscall)(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int high;

	if (fd < 0)
		return false;
	/* The program finds the numbers free that it would find free without us. */
	high = fcntl((int)fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
	if (high >= 0) {
		REAL(syscall)(SYS_close, fd);
		fd = high;
	}
	if (sigaction(SIGTRAP, &action, &before)) {
		REAL(syscall)(SYS_close, fd);
		return false;
	}
	event = (int)fd;
	return true;
}

void guard_watch_arm(const void *address, uint64_t size, bool writes_only)
{
	uintptr_t start = (uintptr_t)address;
	uint64_t length = size >= 8 && !(start & 7)   ? 8
			  : size >= 4 && !(start & 3) ? 4
			  : size >= 2 && !(start & 1) ? 2
						      : 1;
	struct perf_event_attr a = attributes(start, length, writes_only);
	uint32_t free_now = 0;
	int saved = errno;

	if (event < 0 || !atomic_compare_exchange_strong(&armed, &free_now, 1))
		return;
	atomic_store(&hits, 0);
	a.disabled = 0;
	if (ioctl(event, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &a) || ioctl(event, PERF_EVENT_IOC_ENABLE, 0))
		atomic_store(&armed, 0);
	errno = saved;
}

uint32_t guard_watch_disarm(void)
{
	int saved = errno;
	uint32_t count = 0;

	if (event >= 0 && atomic_load(&armed)) {
		ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
		count = atomic_load(&hits);
		atomic_fetch_add_explicit(&guard.session->hits, count, memory_order_relaxed);
		atomic_store(&armed, 0);
	}
	errno = saved;
	return count;
}
