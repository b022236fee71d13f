// SPDX-License-Identifier: Apache-2.0
/*
 * Where the program fails: fatal signals and failed assertions leave a note, then take their course.  A
 * handler that the program installs takes the place of ours.
 *
 * A failure inside of a library is the program's at the nearest call.  Candidates are words of the stack that
 * lie behind a call in the program's own code; the reader takes the first that the debug information knows.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt/track/track.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

enum { WORDS = 512 };

extern char __executable_start[] __attribute__((weak, visibility("hidden")));
extern char etext[] __attribute__((weak, visibility("hidden")));

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static struct sigaction before[sizeof fatal / sizeof fatal[0]];

static bool is_code(uint64_t pc)
{
	return pc > (uintptr_t)__executable_start && pc < (uintptr_t)etext;
}

uint64_t track_place(uint64_t pc)
{
	return is_code(pc) ? pc - (uintptr_t)__executable_start : 0;
}

/* Whether the instruction before it is a call: of a known target, or of one in a register or in memory. */
static bool is_behind_call(uint64_t pc)
{
	const uint8_t *p = (const uint8_t *)pc;

	if (!is_code(pc) || !is_code(pc - 8))
		return false;
	return p[-5] == 0xe8 || (p[-6] == 0xff && p[-5] == 0x15) ||
	       (p[-2] == 0xff && (p[-1] & 0x38) == 0x10) || (p[-3] == 0xff && (p[-2] & 0x38) == 0x10);
}

#ifdef __x86_64__
static void find_places(const ucontext_t *context, uint64_t *places)
{
	uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
	const uint64_t *stack = (const uint64_t *)(context->uc_mcontext.gregs[REG_RSP] & ~7ll);
	int count = 0;

	if (is_code(pc))
		places[count++] = track_place(pc);
	for (int i = 0; i < WORDS && count < RADDLE_TRACK_PLACES; i++)
		if (is_behind_call(stack[i]))
			places[count++] = track_place(stack[i] - 1);
}
#else
static void find_places(const ucontext_t *context, uint64_t *places)
{
	(void)context;
	(void)places;
}
#endif

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
		/* A word of the stack may lie where none is: then the note is there without a place. */
		atomic_store(&f->ready, 2);
		find_places(context, f->places);
	}
	errno = saved;
	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
		if (fatal[i] == number)
			sigaction(number, &before[i], NULL);
	/* A fault happens again when we return; a signal that was sent does not. */
	if (info->si_code <= 0)
		raise(number);
}

void track_fail_open(void)
{
	struct sigaction action = {.sa_sigaction = failed, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
		sigaction(fatal[i], &action, &before[i]);
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
