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
#include "rt/steer/steer-int.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define RAISED_BY_FILTER 1 /* SYS_SECCOMP, a value of si_code that libc's headers lack */
#define SYS_FUTEX_NEW 454  /* futex_wake(), futex_wait() and futex_requeue() have this number or the next */

/* Makes the call that was trapped. */
static long make_call(long number, const long arguments[6])
{
	struct rt_futex_call call = {.handled = false};

	bool listens = rt.callbacks.futexes != NULL; /* not in a forked child */

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
	r[REG_RAX] = make_call(r[REG_RAX], arguments);
	errno = saved;
}

#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define HALF(name, half) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name) + 4 * (half))
#define IF_EQUAL(value, then, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, then, otherwise)
#define IF_LEAST(value, then, otherwise) BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, value, then, otherwise)

static bool install_filter(void)
{
	uint64_t own = (uintptr_t)rt_bare_end;
	struct sock_filter filter[] = {
		FIELD(arch),
		IF_EQUAL(AUDIT_ARCH_X86_64, 0, 12),
		FIELD(nr),
		IF_EQUAL(SYS_futex, 6, 0),
		IF_EQUAL(SYS_read, 5, 0),
		IF_EQUAL(SYS_write, 4, 0),
		IF_EQUAL(SYS_sendto, 3, 0),
		IF_EQUAL(SYS_futex_waitv, 7, 0),
		IF_LEAST(SYS_FUTEX_NEW, 0, 5),
		IF_LEAST(SYS_FUTEX_NEW + 3, 4, 5),
		HALF(instruction_pointer, 0),
		IF_EQUAL((uint32_t)own, 0, 3),
		HALF(instruction_pointer, 1),
		IF_EQUAL((uint32_t)(own >> 32), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	};
	struct sock_fprog program = {sizeof filter / sizeof *filter, filter};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

void rt_trap_setup(void)
{
	struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER};
	uint64_t own = 1ull << (SIGSYS - 1);
	int saved = errno;

	if (!(rt_steer()->flags & RADDLE_STEER_TRAP))
		return;
	syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &own, NULL, sizeof own);
	if (REAL(sigaction)(SIGSYS, &action, NULL) || !install_filter())
		rt_context_refuse(RADDLE_UNFIT_FILTER);
	rt.trapped = (pid_t)syscall(SYS_getpid);
	errno = saved;
}
