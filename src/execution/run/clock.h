/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock of a program.  It measures how long a program had the opportunity to run, so limits that
 * are measured with it do not depend on how busy the machine is.  It advances by real time less the time
 * for which runnable threads waited for a processor, on average.  A program that gets no processor at
 * all, or is stopped, could wait forever.  So the clock then advances very slowly.
 */
#ifndef RUN_CLOCK_H
#define RUN_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct run_clock {	/* zero it before the program starts */
	int64_t now_ns; /* 0 before the first look */
	int64_t real_ns, cpu_ns, delay_ns;
};

/* What was seen of a program: the real time, the processor time of the process, how long all its
 * threads together have waited for a processor, and the number of threads that were not asleep. */
struct run_clock_look {
	int64_t real_ns, cpu_ns, delay_ns;
	size_t awake;
};

/* Advances the clock to the time of a look.  Uses no process. */
void run_clock_step(struct run_clock *c, const struct run_clock_look *look);

/* Returns the current time of the clock in nanoseconds.  The time is at least 1, and does not change
 * more often than every few milliseconds. */
int64_t run_clock_now(struct run_clock *c, pid_t pid);

#endif
