// SPDX-License-Identifier: Apache-2.0
/*
 * Moments: waits for what another thread may or may not do.  In: a thread that waits.  Out: whether it
 * has waited long enough.
 *
 * If a wait had a limit in real time, a busy machine would decide how it ends.  So its length is real
 * time less the time for which the other threads waited for a processor, on average.
 * The replayer measures the program in the same way (run/clock.h).
 */
#include "rt/steer/moment-int.h"

#include "rt/steer/turn-int.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* These values were chosen by hand. */
#define STEP_NS 10000000u /* real time between two measurements, which cost system calls */
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

/* What the other threads that the runtime does not stop do: how many of them are not asleep, and how
 * long all of them together have waited for a processor. */
struct others {
	uint64_t awake, delay;
};

static struct others look_at_others(uint32_t self)
{
	struct others o = {0, 0};

	for (uint32_t i = 0; i < rt_slot_count(); i++) {
		if (i == self || rt_turn_state(i) != RADDLE_SLOT_RUNS)
			continue;
		o.awake += !rt_turn_sleeps(rt_slot_at(i)->tid);
		o.delay += rt_turn_delay(rt_slot_at(i)->tid);
	}
	return o;
}

struct rt_moment rt_moment_begin(uint32_t slot)
{
	return (struct rt_moment){.slot = slot,
				  .real = rt_now(),
				  .cpu = rt_moment_cpu(CLOCK_PROCESS_CPUTIME_ID),
				  .delay = look_at_others(slot).delay};
}

/* Returns how much of the real time the other threads could use.  A thread that neither ran nor waited
 * for a processor, but is awake, is stopped. */
static uint64_t usable(uint64_t real, uint64_t cpu, uint64_t delay, uint64_t awake)
{
	uint64_t lost = awake ? delay / awake : 0;

	if (!awake)
		return ASLEEP_MOST_NS;
	return (!cpu && !delay) || lost > real - real / STARVED_SHARE ? real / STARVED_SHARE : real - lost;
}

uint64_t rt_moment_length(struct rt_moment *m)
{
	uint64_t now = rt_now(), real = now - m->real, cpu, passed;
	struct others o;

	if (real < STEP_NS)
		return m->length;
	cpu = rt_moment_cpu(CLOCK_PROCESS_CPUTIME_ID);
	o = look_at_others(m->slot);
	passed = usable(real, cpu - m->cpu, o.delay > m->delay ? o.delay - m->delay : 0, o.awake);
	m->length += passed < real ? passed : real;
	m->real = now;
	m->cpu = cpu;
	m->delay = o.delay;
	return m->length;
}
