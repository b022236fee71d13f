/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds where in the program's own code a fatal signal occurred (raddle/crash.h).  Runs in the
 * signal handler.
 * A failure inside a library is attributed to the nearest call in the program.  The candidates are
 * the words on the stack that point just after a call instruction in the program's own code.  The
 * reader of the result takes the first candidate that has debug information.
 */
#ifndef RADDLE_CRASH_FIND_H
#define RADDLE_CRASH_FIND_H

#include "raddle/crash.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* The number of words of the stack that are searched for return addresses, which is a page on x86.
 * It was chosen by hand: the innermost calls are in that page, and a handler should finish soon
 * after a crash. */
enum { RADDLE_CRASH_WORDS = 512, RADDLE_CRASH_PAGE = 4096 };

extern char __executable_start[] __attribute__((weak, visibility("hidden")));
extern char etext[] __attribute__((weak, visibility("hidden")));

static inline bool raddle_is_code(uint64_t pc)
{
	return pc > (uintptr_t)__executable_start && pc < (uintptr_t)etext;
}

/* Returns the offset of pc from the program's load address, or 0 if pc is not in the program. */
static inline uint64_t raddle_code_place(uint64_t pc)
{
	return raddle_is_code(pc) ? pc - (uintptr_t)__executable_start : 0;
}

/* Returns true if the code before `p` is a call instruction: direct, or through a register or
 * memory. */
static inline bool raddle_ends_with_call(const uint8_t *p)
{
	return p[-5] == 0xe8 || (p[-6] == 0xff && p[-5] == 0x15) ||
	       (p[-2] == 0xff && (p[-1] & 0x38) == 0x10) || (p[-3] == 0xff && (p[-2] & 0x38) == 0x10);
}

static inline bool raddle_is_behind_call(uint64_t pc)
{
	return raddle_is_code(pc) && raddle_is_code(pc - 8) && raddle_ends_with_call((const uint8_t *)pc);
}

/* Returns true if the word can be read.  To find out, calls sigprocmask with an invalid operation.
 * The kernel reads the signal set before it rejects the operation, so EFAULT means that the word is
 * not readable. */
static inline bool raddle_is_readable(const uint64_t *word)
{
	int saved = errno;
	bool readable = syscall(SYS_rt_sigprocmask, -1L, word, NULL, sizeof *word) != 0 && errno == EINVAL;

	errno = saved;
	return readable;
}

/* Returns true if the word can be read.  The stack may end before RADDLE_CRASH_WORDS words, for
 * example in main() if the environment is small.  Only the word at which the search begins and the
 * first word of each page are tested.  If such a word is readable, so is the rest of its page. */
static inline bool raddle_is_stack(const uint64_t *word, bool first)
{
	return (!first && ((uintptr_t)word & (RADDLE_CRASH_PAGE - 1)) != 0) || raddle_is_readable(word);
}

static inline void raddle_crash_places(const ucontext_t *context, uint64_t places[RADDLE_CRASH_PLACES])
{
#ifdef __x86_64__
	uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
	const uint64_t *stack = (const uint64_t *)(context->uc_mcontext.gregs[REG_RSP] & ~7ll);
	int count = 0;

	if (raddle_is_code(pc))
		places[count++] = raddle_code_place(pc);
	for (int i = 0;
	     i < RADDLE_CRASH_WORDS && count < RADDLE_CRASH_PLACES && raddle_is_stack(&stack[i], !i); i++)
		if (raddle_is_behind_call(stack[i]))
			places[count++] = raddle_code_place(stack[i] - 1);
#else
	(void)context;
	(void)places;
#endif
}

#endif
