// SPDX-License-Identifier: Apache-2.0
/*
 * Records where a fatal signal occurred in a steered process.  Then the signal has its usual
 * effect.  In: the signal.  Out: places in the program's code (raddle/crash-find.h).  A handler
 * that the program installs replaces this one.
 */
#include "rt/common/signal.h"
#include "raddle/crash-find.h"
#include "rt/core/real.h"
#include "rt/steer/steer-int.h"
#include "rt/steer/steer.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Lets the signal have its default effect.  A fault happens again when the handler returns, but a
 * signal that was sent does not, so this function sends it again.  System calls are used, since
 * functions of libc may be replaced by the program, or interposed. */
static void end_by(int number, bool sent)
{
	rt_signal_default(number);
	if (sent)
		rt_signal_self(number);
}

/* Waits until the debugger has examined the program.  If the debugger leaves earlier, it ends the
 * program. */
static void show(const struct raddle_steer_crash *c)
{
	struct timespec step = {0, 10000000};

	while (!atomic_load(&c->seen))
		syscall(SYS_nanosleep, &step, NULL);
}

static void crashed(int number, siginfo_t *info, void *context)
{
	struct raddle_steer_crash *c = rt.layer[RT_LAYER_STEER] ? &rt_steer()->crash : NULL;
	uint32_t none = 0;
	int saved = errno;

	if (c && atomic_load(&c->signal) == 0) {
		c->tid = (uint32_t)rt_kernel_tid();
		raddle_crash_places(context, c->places);
	}
	if (c && atomic_compare_exchange_strong(&c->signal, &none, (uint32_t)number) &&
	    rt_steer()->flags & RADDLE_STEER_SHOW)
		show(c);
	end_by(number, info->si_code <= 0);
	errno = saved;
}

void rt_crash_setup(void)
{
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_ONSTACK}, before;

	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
		if (!REAL(sigaction)(fatal[i], NULL, &before) && before.sa_handler == SIG_DFL)
			REAL(sigaction)(fatal[i], &action, NULL);
}
