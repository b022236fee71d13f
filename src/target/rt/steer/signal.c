// SPDX-License-Identifier: Apache-2.0
/*
 * Signals that the program sends to a single thread, if all threads share one kernel thread.  In:
 * pthread_kill() and pthread_sigqueue(), and threads that wait for signals.  Out: the handler,
 * which runs when the thread has the turn, on its stack and with its TLS.
 *
 * The kernel knows only the runner, so a signal stays here until its thread runs and does not block
 * it.  Then the thread sends it to the runner, where it takes effect at once.  A signal without a
 * handler affects the whole process and is sent at once.
 *
 * Invariants:
 * 1. A signal is pending at most once for each thread.  A second real-time signal with the same
 *    number would have to be queued.  This is not supported, so the program runs again with a
 *    kernel thread for each thread.
 * 2. A signal is delivered to a thread at an operation, at a yield, or when the runner switches to
 *    the thread, and never while the lock of steering is held.
 */
#include "rt/core/io/outside.h"
#include "rt/steer/turn-int.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

/* The kernel's struct sigaction. */
struct action {
	void (*handler)(int);
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

static struct action action_of(int number)
{
	struct action a = {SIG_DFL, 0, NULL, 0};

	rt_bare(SYS_rt_sigaction, number, 0, (long)&a, sizeof a.mask);
	return a;
}

static uint64_t bit_of(int number)
{
	return 1ull << (number - 1);
}

static struct rt_signals *signals_of(uint32_t number)
{
	return &rt_steering()->entries.signals[number];
}

static uint64_t own_mask(void)
{
	uint64_t mask = 0;

	rt_bare(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, sizeof mask);
	return mask;
}

/* Returns the blocked signals of a thread that is not running. */
static uint64_t mask_of(uint32_t number)
{
	const struct rt_context *c = rt_steering()->contexts[number];

	return c && c->masked ? c->mask : rt_steering()->common_mask;
}

static void send_to_runner(const siginfo_t *info)
{
	rt_bare(SYS_rt_tgsigqueueinfo, rt.pid, rt.pid, info->si_signo, (long)info);
}

/* Removes the lowest pending signal in the set and stores it in *info.  Returns false if there is
 * none. */
static bool take(uint32_t number, uint64_t set, siginfo_t *info)
{
	struct rt_signals *s = signals_of(number);
	uint64_t found = s->pending & set;

	if (!found)
		return false;
	*info = (siginfo_t){.si_signo = __builtin_ctzll(found) + 1, .si_code = SI_TKILL};
	info->si_pid = rt.pid;
	info->si_uid = (uid_t)rt_bare(SYS_getuid, 0);
	if (s->queued == info->si_signo) {
		info->si_code = SI_QUEUE;
		info->si_ptr = (void *)s->value;
		s->queued = 0;
	}
	s->pending &= ~bit_of(info->si_signo);
	rt_steering()->entries.signals_pending--;
	return true;
}

/* Makes the thread's current call fail, because a handler interrupts it, unless the kernel would
 * restart the call. */
static void interrupt(uint32_t number, int signal)
{
	struct rt_wait_entry *entry = &rt_steering()->entries.waits[number];

	if (entry->look && !(action_of(signal).flags & SA_RESTART))
		entry->interrupted = true;
}

void rt_signal_deliver(struct rt_thread *t)
{
	siginfo_t info;
	int saved = errno;

	while (rt_steered(t)->slot && signals_of(t->number)->pending && !t->busy &&
	       take(t->number, ~own_mask(), &info)) {
		interrupt(t->number, info.si_signo);
		send_to_runner(&info);
	}
	errno = saved;
}

/* Lets the thread run, so that it gets the signal. */
static void wake(uint32_t number)
{
	uint64_t signals;

	rt_steer_lock(&signals);
	if (rt_slot_at(number)->since)
		rt_turn_set_ready(number, true);
	rt_steer_unlock(&signals);
}

static void keep(uint32_t number, const struct rt_signal *signal)
{
	struct rt_signals *s = signals_of(number);
	uint64_t bit = bit_of(signal->number);

	if (s->pending & bit && signal->number >= SIGRTMIN)
		rt_context_refuse(RADDLE_UNFIT_SIGNALLED);
	if (s->pending & bit)
		return;
	if (signal->value) {
		if (s->queued)
			rt_context_refuse(RADDLE_UNFIT_SIGNALLED);
		s->queued = signal->number;
		s->value = (uint64_t)signal->value->sival_ptr;
	}
	s->pending |= bit;
	rt_steering()->entries.signals_pending++;
}

bool rt_signal_is_handled(int number)
{
	void (*handler)(int) = action_of(number).handler;

	return handler != SIG_DFL && handler != SIG_IGN;
}

/* Sends a signal to the thread in slot `number`. */
static void send_to(struct rt_thread *t, uint32_t number, const struct rt_signal *signal)
{
	bool blocks = (t->number == number ? own_mask() : mask_of(number)) >> (signal->number - 1) & 1;

	if (!blocks && !rt_signal_is_handled(signal->number)) {
		send_to_runner(&(siginfo_t){.si_signo = signal->number, .si_code = SI_TKILL});
		return;
	}
	keep(number, signal);
	if (t->number == number)
		rt_signal_deliver(t);
	else
		wake(number);
}

void rt_signal_send(struct rt_signal *signal)
{
	struct rt_thread *t = rt_self();

	if (!rt_steer_has_one() || !t || !rt_steered(t)->slot)
		return;
	if (signal->thread >= RADDLE_SLOTS) {
		rt_context_refuse(RADDLE_UNFIT_SIGNALLED);
		return;
	}
	signal->handled = true;
	signal->result = signal->number < 0 || signal->number > SIGRTMAX ? EINVAL : 0;
	if (signal->number > 0 && !signal->result && rt_turn_state(signal->thread) != RADDLE_SLOT_ENDED)
		send_to(t, signal->thread, signal);
}

void rt_signal_take(struct rt_thread *t, uint64_t set, void *info)
{
	if (rt_steer_has_one() && rt_steered(t)->slot)
		take(t->number, set, info);
}
