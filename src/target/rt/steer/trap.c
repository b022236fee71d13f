// SPDX-License-Identifier: Apache-2.0
/*
 * Traps futex calls, reads and writes that libraries make with their own system call instructions
 * (RADDLE_STEER_TRAP).  In: such a call of libc, libgomp or any other code but the runtime's.  Out:
 * a wait by turns (rt/steer/futex.c, rt/steer/transfer.c).
 *
 * A filter of the kernel (seccomp) raises SIGSYS for each of these calls that does not come from the
 * instruction in rt_bare().  The handler makes the call in another way and returns its result.  A
 * thread that has to wait switches to another one inside the handler, so the handler has no mask
 * and may be entered again.
 *
 * The kernel keeps the filter for all threads and children of the process, for ever.  A forked
 * child still has the handler, which passes the call on.  A program that the process or a child
 * executes (exec) would be killed at its first futex call.  So the run is ended before that
 * (rt_trap_leaves()) and repeated without the filter.  SIGSYS is never blocked
 * (rt/core/process/handler.c), since the kernel would kill the process instead.
 */
#include "rt/common/signal.h"
#include "rt/core/real.h"
#include "rt/steer/filter-int.h"
#include "rt/steer/steer-int.h"

#include <errno.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define RAISED_BY_FILTER 1 /* SYS_SECCOMP, a value of si_code that libc's headers lack */
#define SYS_FUTEX_NEW 454  /* futex_wake(), futex_wait() and futex_requeue() have this number or the next */

/* Returns true if RADDLE_STEER_TRAP traps this call.  Others are trapped in a copy that makes several
 * runs (rt/steer/changes.c). */
static bool is_trapped(long number)
{
	return number == SYS_futex || number == SYS_read || number == SYS_write || number == SYS_sendto ||
	       number == SYS_futex_waitv || (number >= SYS_FUTEX_NEW && number < SYS_FUTEX_NEW + 3);
}

/* Makes the call that was trapped. */
static long make_call(long number, const long arguments[6])
{
	struct rt_futex_call call = {.handled = false};

	bool listens = rt.callbacks.futexes != NULL; /* not in a forked child */

	if (listens && !is_trapped(number))
		return rt_changes_call(number, arguments);
	if (listens && (number == SYS_read || number == SYS_write || number == SYS_sendto))
		return rt_transfer(number, arguments);
	if (listens && number != SYS_futex)
		rt_context_refuse(RADDLE_UNFIT_FUTEX);
	__builtin_memcpy(call.arguments, arguments, sizeof call.arguments);
	if (listens)
		RT_NOTIFY(futexes, &call);
	return call.handled ? call.result : rt_bare_call(number, arguments);
}

static void trapped(int number, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	long arguments[] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
	int saved = errno;

	if (info->si_code != RAISED_BY_FILTER) {
		rt_signal_default(number);
		rt_signal_self(number);
		return;
	}
	if (info->si_arch != AUDIT_ARCH_X86_64)
		rt_context_refuse(RADDLE_UNFIT_RESET); /* there, the number means another call */
	r[REG_RAX] = make_call(r[REG_RAX], arguments);
	errno = saved;
}

static bool install_filter(void)
{
	struct sock_filter filter[] = {
		RT_FIELD(arch),
		RT_IF_EQUAL(AUDIT_ARCH_X86_64, 0, 12),
		RT_FIELD(nr),
		RT_IF_EQUAL(SYS_futex, 6, 0),
		RT_IF_EQUAL(SYS_read, 5, 0),
		RT_IF_EQUAL(SYS_write, 4, 0),
		RT_IF_EQUAL(SYS_sendto, 3, 0),
		RT_IF_EQUAL(SYS_futex_waitv, 7, 0),
		RT_IF_LEAST(SYS_FUTEX_NEW, 0, 5),
		RT_IF_LEAST(SYS_FUTEX_NEW + 3, 4, 5),
		RT_FILTER_END,
	};

	return rt_filter_install(filter, sizeof filter / sizeof *filter);
}

bool rt_trap_install(void)
{
	struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER};
	uint64_t own = 1ull << (SIGSYS - 1);

	syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &own, NULL, sizeof own);
	return !REAL(sigaction)(SIGSYS, &action, NULL);
}

void rt_trap_setup(void)
{
	int saved = errno;

	if (!(rt_steer()->flags & RADDLE_STEER_TRAP))
		return;
	if (!rt_trap_install() || !install_filter())
		rt_context_refuse(RADDLE_UNFIT_FILTER);
	rt.trapped = (pid_t)syscall(SYS_getpid);
	errno = saved;
}
