/* SPDX-License-Identifier: Apache-2.0 */
/* Inside rt/steer/: the length of a wait, which does not depend on how busy the machine is. */
#ifndef RT_STEER_MOMENT_INT_H
#define RT_STEER_MOMENT_INT_H

#include <stdint.h>
#include <time.h>

struct rt_moment {
	uint32_t slot;		   /* the thread that waits */
	uint64_t length;	   /* nanoseconds */
	uint64_t real, cpu, delay; /* at the last measurement */
};

struct rt_moment rt_moment_begin(uint32_t slot);

/* Returns how long the wait has lasted so far, in nanoseconds.  To be called again and again while the
 * thread waits, with naps between the calls. */
uint64_t rt_moment_length(struct rt_moment *m);

/* Returns the time of a clock of the kernel, in nanoseconds. */
uint64_t rt_moment_cpu(clockid_t clock);

#endif
