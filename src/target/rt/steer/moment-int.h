/* SPDX-License-Identifier: Apache-2.0 */
/* Inside rt/steer/: measures how long a thread waits, independently of how busy the machine is. */
#ifndef RT_STEER_MOMENT_INT_H
#define RT_STEER_MOMENT_INT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct rt_moment {
	uint32_t slot;		   /* the thread that waits */
	uint64_t length;	   /* how long it has waited, in nanoseconds */
	uint64_t real, cpu, delay; /* the times at the last measurement */
	uint32_t lone;		   /* the only other thread that runs, or NONE */
	/* the number of accesses and operations of `lone`, and its number of yields when the former
	 * number last changed */
	uint64_t steps, yields;
	bool in_vain; /* `lone` only yields: it waits for a stopped thread, so it will not come */
};

struct rt_moment rt_moment_begin(uint32_t slot);

/* Returns true while the thread should keep waiting: the wait has lasted less than `length`
 * nanoseconds, and there is still hope that it ends (`in_vain` is false).  A waiting thread calls
 * this function repeatedly, and sleeps between the calls. */
bool rt_moment_lasts(struct rt_moment *m, uint64_t length);

/* Returns the time of a clock of the kernel, in nanoseconds. */
uint64_t rt_moment_cpu(clockid_t clock);

#endif
