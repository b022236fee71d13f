// SPDX-License-Identifier: Apache-2.0
/*
 * Records where the program fails, that is, the places of fatal signals and failed assertions.
 * Afterwards the signal or assertion has its usual effect.  If the program installs a handler for
 * such a signal, that handler replaces the one in this file.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "raddle/crash-find.h"
#include "rt/track/track.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
_Static_assert(sizeof fatal / sizeof fatal[0] == TRACK_FATAL, "each has its handler");

uint64_t track_place(uint64_t pc)
{
	return raddle_code_place(pc);
}

static bool claim(struct raddle_track_failure *f, uint32_t state)
{
	uint32_t none = 0;

	return atomic_compare_exchange_strong(&f->ready, &none, state);
}

static void failed(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	if (track.shared && claim(&track.shared->failure, 1)) {
		struct raddle_track_failure *f = &track.shared->failure;

		f->signal = number;
		f->thread = track_thread();
		f->address = number == SIGABRT ? 0 : (uintptr_t)info->si_addr;
		/* Reading the stack may fault beyond its end.  By then the failure is already
		 * recorded, without places. */
		atomic_store(&f->ready, 2);
		raddle_crash_places(context, f->places);
	}
	errno = saved;
	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
		if (fatal[i] == number)
			sigaction(number, &track.before[i], NULL);
	/* A faulting instruction is executed again when the handler returns.  A signal that was
	 * sent by a call must be sent again. */
	if (info->si_code <= 0)
		raise(number);
}

void track_fail_open(void)
{
	struct sigaction action = {.sa_sigaction = failed, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
		sigaction(fatal[i], &action, &track.before[i]);
}

static void copy(char *to, const char *from)
{
	strncpy(to, from ? from : "", RADDLE_TRACK_TEXT - 1);
}

TRACK_INTERPOSE(void, __assert_fail,
		(const char *condition, const char *file, unsigned line, const char *function))
{
	if (track.shared && claim(&track.shared->failure, 1)) {
		struct raddle_track_failure *f = &track.shared->failure;

		f->signal = SIGABRT;
		f->thread = track_thread();
		f->line = line;
		copy(f->text, condition);
		copy(f->file, file);
		copy(f->function, function);
		atomic_store(&f->ready, 2);
	}
	TRACK_REAL(__assert_fail)(condition, file, line, function);
	__builtin_unreachable();
}
