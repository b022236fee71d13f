/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the return addresses on the stack of a stopped thread of a process.  They are returned as
 * places as in raddle/crash.h, nearest first. */
#ifndef SKETCH_STACK_INT_H
#define SKETCH_STACK_INT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The location of the program's code in the memory of one process.  All members are zero until the
 * location is known. */
struct stack_code {
	uint64_t base, from, end; /* where the program begins, and where its code begins and ends */
};

enum { STACK_PLACES = 32 }; /* chosen by hand: the innermost calls distinguish failures */

/* Stores the return addresses on the stack in `places`, at most STACK_PLACES of them.  Returns
 * their number, or 0 if they cannot be found. */
size_t stack_places(struct stack_code *code, const char *executable, pid_t pid, uint32_t tid,
		    uint64_t places[STACK_PLACES]);

#endif
