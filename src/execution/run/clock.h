/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock of a program.  It measures how long a program had the opportunity to run, so limits in
 * this time do not depend on how busy the machine is.  It advances by real time, less the average
 * time for which the runnable threads of the program waited for a processor.  If a program gets no
 * processor at all, or is stopped, the clock still advances, but very slowly.  Otherwise such a
 * program could run forever.
 */
#ifndef RUN_CLOCK_H
#define RUN_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The clock must be zeroed before the program starts.  If `real_ns` is then set to the real time
 * of the start, a program that ends within a few milliseconds is never examined, which saves
 * time. */
struct run_clock {
	int64_t now_ns; /* 0 before the first look */
	int64_t real_ns, cpu_ns, delay_ns;
};

/* A look at a program at one moment: the real time, the processor time of the process, how long
 * its threads have waited for a processor (the sum over all threads), and the number of threads
 * that were not asleep. */
struct run_clock_look {
	int64_t real_ns, cpu_ns, delay_ns;
	size_t awake;
};

/* Advances the clock to the time of a look.  Does not access any process. */
void run_clock_step(struct run_clock *c, const struct run_clock_look *look);

/* Returns the current time of the clock in nanoseconds, or 0 before the first look.  The time
 * advances only every few milliseconds. */
int64_t run_clock_now(struct run_clock *c, pid_t pid);

#endif
