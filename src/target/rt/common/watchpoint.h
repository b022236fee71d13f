/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hardware watchpoints of the processor.  The system may refuse them.
 *
 * The runtime opens the watchpoints before any other thread exists, so all threads inherit them.
 * Moving a watchpoint to another address affects all threads.  When a thread accesses watched
 * bytes, it receives a SIGTRAP after the access (a hit).  Other traps are passed to the handler
 * that the program had installed before.
 */
#ifndef RT_COMMON_WATCHPOINT_H
#define RT_COMMON_WATCHPOINT_H

#include <stdbool.h>
#include <stdint.h>

/* Called in a signal handler, with the `data` of a watchpoint.  Returns false if `data` does not
 * belong to a watchpoint of the runtime. */
typedef bool rt_hit(uint64_t data, const void *context);

/* Calls `hit` at each hit from now on.  Returns false if the system refuses. */
bool rt_watchpoint_catch(rt_hit *hit);

/* Returns a new, disabled watchpoint, or -1 if the system refuses. */
int rt_watchpoint_open(uint64_t data);
void rt_watchpoint_close(int watchpoint);

/* Returns how many bytes, starting at the address, one watchpoint can watch.  The result is 1, 2, 4
 * or 8, but at most `size`. */
uint64_t rt_watchpoint_length(uintptr_t address, uint64_t size);

/* The bytes that a watchpoint watches. */
struct rt_watched {
	uintptr_t address;
	uint64_t length; /* rt_watchpoint_length() */
	uint64_t data;
	bool writes_only;
};
/* move() sets the bytes to watch and enables the watchpoint.  It returns false if the system
 * refuses.  disable() may be called in a signal handler. */
bool rt_watchpoint_move(int watchpoint, const struct rt_watched *to);
void rt_watchpoint_disable(int watchpoint);

#endif
