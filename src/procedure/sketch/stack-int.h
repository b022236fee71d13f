/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the return addresses on the stack of a stopped thread.  In: a process and a thread.  Out:
 * places as in raddle/crash.h, nearest first. */
#ifndef SKETCH_STACK_INT_H
#define SKETCH_STACK_INT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The addresses of the program in the memory of one process; zero if not known yet. */
struct stack_code {
	uint64_t base, from, end; /* where the program begins, and where its code begins and ends */
};

enum { STACK_PLACES = 32 }; /* chosen by hand: the innermost calls distinguish failures */

/* Stores the return addresses on the stack, at most STACK_PLACES.  Returns their number; 0 if they
 * are unknown. */
size_t stack_places(struct stack_code *code, const char *executable, pid_t pid, uint32_t tid,
		    uint64_t places[STACK_PLACES]);

#endif
