/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the return addresses on the stack of a stopped thread.  In: a process and a thread.  Out:
 * places as in raddle/crash.h, nearest first. */
#ifndef SKETCH_STACK_INT_H
#define SKETCH_STACK_INT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Where the program is in the memory of one process.  All members are zero as long as that is not
 * known. */
struct stack_code {
	uint64_t base, from, end; /* where the program begins, and where its code begins and ends */
};

enum { STACK_PLACES = 32 }; /* chosen by hand: the innermost calls distinguish failures */

/* Stores the return addresses on the stack in `places`, at most STACK_PLACES of them.  Returns
 * their number, which is 0 if they are unknown. */
size_t stack_places(struct stack_code *code, const char *executable, pid_t pid, uint32_t tid,
		    uint64_t places[STACK_PLACES]);

#endif
