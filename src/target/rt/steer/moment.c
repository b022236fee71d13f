// SPDX-License-Identifier: Apache-2.0
/*
 * Moments: waits for what another thread may or may not do.  In: a thread that waits.  Out: whether it
 * has waited long enough.
 *
 * If a wait had a limit in real time, a busy machine would decide how it ends.  So its length is the
 * processor time that each running thread got on average, or real time while all other threads sleep.
 * The replayer measures the program in the same way (run/clock.h).
 */
#include "rt/steer/moment-int.h"

#include "rt/steer/turn-int.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* These values were chosen by hand. */
#define STEP_NS 2000000u /* real time between two measurements, which cost system calls */
/* maximum for a measurement at which all other threads sleep: a longer interval means that this
 * thread was delayed, and so may the others have been */
#define ASLEEP_MOST_NS (2u * RT_NAP_MS * 1000000u)
#define STARVED_SHARE 64u /* a starved program gets this share of real time, so that every wait ends */

uint64_t rt_moment_cpu(clockid_t clock)
{
	struct timespec t = {0};
	int saved = errno;

	syscall(SYS_clock_gettime, clock, &t);
	errno = saved;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns the number of other threads of the program that are neither asleep nor stopped by the
 * runtime. */
static uint64_t count_awake(uint32_t self)
{
	uint64_t awake = 0;

	for (uint32_t i = 0; i < rt_slot_count(); i++)
		awake += i != self && rt_turn_state(i) == RADDLE_SLOT_RUNS &&
			 !rt_turn_sleeps(rt_slot_at(i)->tid);
	return awake;
}

struct rt_moment rt_moment_begin(uint32_t slot)
{
	return (struct rt_moment){
		.slot = slot, .real = rt_now(), .cpu = rt_moment_cpu(CLOCK_PROCESS_CPUTIME_ID)};
}

uint64_t rt_moment_length(struct rt_moment *m)
{
	uint64_t now = rt_now(), real = now - m->real, cpu, awake, passed;

	if (real < STEP_NS)
		return m->length;
	cpu = rt_moment_cpu(CLOCK_PROCESS_CPUTIME_ID);
	awake = count_awake(m->slot);
	passed = awake ? (cpu - m->cpu) / awake : ASLEEP_MOST_NS;
	if (passed < real / STARVED_SHARE)
		passed = real / STARVED_SHARE;
	m->length += passed < real ? passed : real;
	m->real = now;
	m->cpu = cpu;
	return m->length;
}
