// SPDX-License-Identifier: Apache-2.0
/*
 * Implements watchpoints by perf events (rt/common/watchpoint.h).  In: bytes to watch.  Out: calls
 * of the runtime's handler at each hit.
 */
#include "rt/common/watchpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	FIRST_DESCRIPTOR = 900, /* so high that the program gets the same numbers as without Raddle */
	PERF_TRAP = 6,		/* TRAP_PERF, which not every libc defines */
	DATA_AT = 24,		/* the offset of si_perf_data in siginfo_t, which not every libc defines */
};

static struct {
	rt_hit *hit;
	struct sigaction before;
	uint64_t idle; /* memory that nothing accesses, for watchpoints not yet in use */
} traps;

static struct perf_event_attr attributes(const struct rt_watched *w)
{
	struct perf_event_attr a = {.type = PERF_TYPE_BREAKPOINT, .size = sizeof a};

	a.bp_type = w->writes_only ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW;
	a.bp_addr = w->address;
	a.bp_len = w->length;
	a.sample_period = 1;
	a.disabled = 1;
	a.exclude_kernel = a.exclude_hv = 1;
	a.sigtrap = a.remove_on_exec = 1;
	a.inherit = a.inherit_thread = 1;
	a.sig_data = w->data;
	return a;
}

static bool is_hit(const siginfo_t *info, const void *context)
{
	int saved = errno;
	uint64_t data;
	bool ours;

	if (info->si_code != PERF_TRAP)
		return false;
	__builtin_memcpy(&data, (const char *)info + DATA_AT, sizeof data);
	ours = traps.hit(data, context);
	errno = saved;
	return ours;
}

static void trapped(int number, siginfo_t *info, void *context)
{
	const struct sigaction *before = &traps.before;

	if (is_hit(info, context))
		return;
	if (before->sa_flags & SA_SIGINFO) {
		before->sa_sigaction(number, info, context);
	} else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
		before->sa_handler(number);
	} else {
		sigaction(SIGTRAP, before, NULL);
		raise(SIGTRAP);
	}
}

bool rt_watchpoint_catch(rt_hit *hit)
{
	struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};

	traps.hit = hit;
	return !sigaction(SIGTRAP, &action, &traps.before);
}

int rt_watchpoint_open(uint64_t data)
{
	struct rt_watched idle = {
		.address = (uintptr_t)&traps.idle, .length = sizeof traps.idle, .data = data};
	struct perf_event_attr a = attributes(&idle);
	int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC), high;

	if (fd < 0)
		return -1;
	high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
	if (high < 0)
		return fd;
	rt_watchpoint_close(fd);
	return high;
}

void rt_watchpoint_close(int watchpoint)
{
	syscall(SYS_close, watchpoint);
}

uint64_t rt_watchpoint_length(uintptr_t address, uint64_t size)
{
	uint64_t length = sizeof(uint64_t);

	while (length > 1 && (size < length || address % length))
		length /= 2;
	return length;
}

bool rt_watchpoint_move(int watchpoint, const struct rt_watched *to)
{
	struct perf_event_attr a = attributes(to);

	a.disabled = 0;
	return !ioctl(watchpoint, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &a) &&
	       !ioctl(watchpoint, PERF_EVENT_IOC_ENABLE, 0);
}

void rt_watchpoint_disable(int watchpoint)
{
	ioctl(watchpoint, PERF_EVENT_IOC_DISABLE, 0);
}
