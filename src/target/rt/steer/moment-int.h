/* SPDX-License-Identifier: Apache-2.0 */
/* Inside rt/steer/: the length of a wait, which does not depend on how busy the machine is. */
#ifndef RT_STEER_MOMENT_INT_H
#define RT_STEER_MOMENT_INT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct rt_moment {
	uint32_t slot;		   /* the thread that waits */
	uint64_t length;	   /* nanoseconds */
	uint64_t real, cpu, delay; /* at the last measurement */
	uint32_t lone;		   /* the only other thread that runs, or NONE */
	uint64_t steps, yields;	   /* its accesses and operations, and its yields when these last changed */
	bool in_vain;		   /* it waits for a thread that is stopped */
};

struct rt_moment rt_moment_begin(uint32_t slot);

/* Returns true while the wait has lasted less than `length` nanoseconds and is not in vain.  To be
 * called again and again while the thread waits, with naps between the calls. */
bool rt_moment_lasts(struct rt_moment *m, uint64_t length);

/* Returns the time of a clock of the kernel, in nanoseconds. */
uint64_t rt_moment_cpu(clockid_t clock);

#endif
