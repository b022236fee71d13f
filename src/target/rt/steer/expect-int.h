/* SPDX-License-Identifier: Apache-2.0 */
/* Pure functions of rt/steer/expect.c: their results depend only on their arguments. */
#ifndef RT_STEER_EXPECT_INT_H
#define RT_STEER_EXPECT_INT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns the signals in `handled` that only another process could send.  `handled` is the set of
 * signals that have handlers, with one bit for each signal. */
static inline uint64_t rt_expect_signals(uint64_t handled)
{
	static const uint8_t inner[] = {/* caused by the program itself */
					SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGPIPE,
					SIGXCPU, SIGXFSZ,
					/* sent by timers and children, which the runtime looks for */
					SIGALRM, SIGVTALRM, SIGPROF, SIGCHLD,
					/* used by libc to cancel threads and to change their user */
					32, 33};

	for (uint32_t i = 0; i < sizeof inner; i++)
		handled &= ~(1ull << (inner[i] - 1));
	return handled;
}

/* Reads a hexadecimal number and advances `line` past the number and the character that follows
 * it. */
static inline uintptr_t rt_expect_bound(const char **line)
{
	uintptr_t bound = 0;

	for (; **line && **line != '-' && **line != ' '; ++*line)
		bound = bound * 16 + (uintptr_t)(**line <= '9' ? **line - '0' : **line - 'a' + 10);
	*line += **line != 0;
	return bound;
}

/* Returns true if a line of /proc/self/maps describes a readable shared mapping that contains the
 * address. */
static inline bool rt_expect_is_shared(const char *line, uintptr_t address)
{
	uintptr_t start = rt_expect_bound(&line), end = rt_expect_bound(&line);

	return address >= start && address < end && line[0] == 'r' && line[1] && line[2] && line[3] == 's';
}

#endif
