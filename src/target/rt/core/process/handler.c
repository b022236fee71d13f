// SPDX-License-Identifier: Apache-2.0
/*
 * Determines whether code of the program may interrupt a thread at any instruction.  In: calls that
 * install signal handlers, block signals, or make a thread cancellable at any time.  Out:
 * rt.interruptible, which stays set.
 *
 * A layer blocks signals while it holds a lock, because a signal handler may need the same lock.
 * This takes two system calls, which make up most of the cost of the lock.  Most programs have no
 * handler and do not need these calls.  A handler that is installed by a bare system call, or by
 * the obsolete sigset(), is not noticed.
 */
#include "rt/core/layer.h"
#include "rt/core/real.h"

#include <signal.h>

void rt_member_handler(void);
void rt_member_handler(void)
{
}

/* While futex calls are trapped (rt/steer/trap.c), the program must not block SIGSYS, so it is
 * removed from the program's mask.  The mask that the program reads back does not contain it
 * either. */
static const sigset_t *spare_trap(const sigset_t *set, int how, sigset_t *copy)
{
	if (!set || !rt.trapped || how == SIG_UNBLOCK)
		return set;
	*copy = *set;
	sigdelset(copy, SIGSYS);
	return copy;
}

/* Call this when handlers may run from now on, or when threads may block different signals. */
static void become_interruptible(void)
{
	if (!atomic_load(&rt.interruptible))
		RT_NOTIFY(disturbs);
	atomic_store(&rt.interruptible, 1);
}

/* Called before the real function, because a signal may arrive before the real function returns. */
static void installs(void (*handler)(int))
{
	if (handler != SIG_DFL && handler != SIG_IGN && handler != SIG_ERR)
		become_interruptible();
}

INTERPOSE(int, sigaction, (int number, const struct sigaction *restrict new, struct sigaction *restrict old))
{
	struct sigaction action;

	if (!new)
		return REAL(sigaction)(number, NULL, old);
	installs(new->sa_handler);
	if (number == SIGSYS)
		RT_NOTIFY(addresses, RADDLE_UNFIT_TRAPPED);
	action = *new;
	spare_trap(&new->sa_mask, SIG_BLOCK, &action.sa_mask);
	return REAL(sigaction)(number, &action, old);
}

#define SIGNAL(name)                                                                                         \
	INTERPOSE(__sighandler_t, name, (int number, __sighandler_t handler))                                \
	{                                                                                                    \
		installs(handler);                                                                           \
		if (number == SIGSYS)                                                                        \
			RT_NOTIFY(addresses, RADDLE_UNFIT_TRAPPED);                                          \
		return REAL(name)(number, handler);                                                          \
	}
SIGNAL(signal)
SIGNAL(bsd_signal)
SIGNAL(sysv_signal)
SIGNAL(__sysv_signal)

/* After such a call, threads may block different signals. */
#define MASK(name)                                                                                           \
	INTERPOSE(int, name, (int how, const sigset_t *restrict set, sigset_t *restrict old))                \
	{                                                                                                    \
		sigset_t copy;                                                                               \
                                                                                                             \
		if (set)                                                                                     \
			become_interruptible();                                                              \
		return REAL(name)(how, spare_trap(set, how, &copy), old);                                    \
	}
MASK(pthread_sigmask)
MASK(sigprocmask)

/* The kernel stores one alternate stack per kernel thread. */
INTERPOSE(int, sigaltstack, (const stack_t *restrict stack, stack_t *restrict old))
{
	if (stack)
		RT_NOTIFY(addresses, RADDLE_UNFIT_STACK);
	return REAL(sigaltstack)(stack, old);
}

INTERPOSE(int, pthread_setcanceltype, (int type, int *old))
{
	if (type == PTHREAD_CANCEL_ASYNCHRONOUS) {
		atomic_store(&rt.asynchronous, 1);
		/* If all threads run on one kernel thread, the run ends when a thread is cancelled
		 * after this call (rt/core/thread/create.c).  libomp makes this call but never
		 * cancels a thread. */
		if (!rt_shares_kernel_thread())
			become_interruptible();
	}
	return REAL(pthread_setcanceltype)(type, old);
}
