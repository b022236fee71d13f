/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants of the runtime.  A violation is a bug in Raddle.  The bug is reported in one line on
 * standard error.  Then the program ends with SIGABRT, because its records, its schedule or its
 * memory can no longer be trusted.
 *
 *	RT_ASSERT(count <= room);
 *
 * RT_ASSERT is not used in code that is inlined into the program, nor in rt/guard: programs in
 * production continue without a verdict instead.
 */
#ifndef RT_COMMON_BUG_H
#define RT_COMMON_BUG_H

#include "rt/common/signal.h"

#include <stddef.h>

/* Every file that uses RT_ASSERT contains a weak copy of this function, and the linker keeps one.
 * It makes system calls directly, because libc's functions may be interposed. */
__attribute__((weak, noinline, cold, visibility("hidden"))) void rt_bug(const char *text, size_t length);
void rt_bug(const char *text, size_t length)
{
	syscall(SYS_write, 2, text, length);
	rt_signal_default(SIGABRT);
	rt_signal_self(SIGABRT);
	__builtin_trap();
}

#define RT_BUG_LINE(line) RT_BUG_TEXT(line)
#define RT_BUG_TEXT(line) #line
#define RT_BUG_MESSAGE(condition)                                                                            \
	"raddle: bug in the runtime: " __FILE__ ":" RT_BUG_LINE(__LINE__) ": " condition "\n"

#define RT_ASSERT(condition)                                                                                 \
	(__builtin_expect(!!(condition), 1)                                                                  \
		 ? (void)0                                                                                   \
		 : rt_bug(RT_BUG_MESSAGE(#condition), sizeof RT_BUG_MESSAGE(#condition) - 1))

#endif
