// SPDX-License-Identifier: Apache-2.0
/*
 * Moments: waits for something that another thread may or may not do.  In: a thread that waits.
 * Out: whether it has waited long enough.
 *
 * If a wait had a limit in real time, its end would depend on how busy the machine is.  So its
 * length is real time, less the average time for which the other threads waited for a processor.
 * The replayer measures the time of the program in the same way (run/clock.h).
 *
 * A wait also ends if it is in vain: the only other thread that runs does nothing but yield.  So
 * that thread waits for a stopped thread.  The replayer judges in the same way (replay/watch.c).
 */
#include "rt/steer/moment-int.h"

#include "rt/steer/turn-int.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* These values were chosen by hand. */
#define STEP_NS 10000000u /* real time between two measurements, which cost system calls */
/* maximum by which a wait gets longer between two measurements if all other threads sleep: if the
 * second one comes later, the machine delayed this thread, and may have delayed the others, too */
#define ASLEEP_MOST_NS (2u * RT_NAP_MS * 1000000u)
/* if the other threads get no processor, 1/STARVED_SHARE of real time counts, so that every wait
 * ends */
#define STARVED_SHARE 64u

uint64_t rt_moment_cpu(clockid_t clock)
{
	struct timespec t = {0};
	int saved = errno;

	syscall(SYS_clock_gettime, clock, &t);
	errno = saved;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What the other threads do. */
struct others {
	uint64_t awake; /* how many run for the runtime, and are not asleep for the kernel */
	uint64_t delay; /* how long those that run have waited for a processor, all together */
	/* how many continue by themselves: they run, or wait with a time limit */
	uint32_t running;
	uint32_t last; /* the last one of these, or NONE */
};

static void look_at(uint32_t number, struct others *o)
{
	const struct raddle_slot *slot = rt_slot_at(number);
	bool runs = rt_turn_state(number) == RADDLE_SLOT_RUNS;

	if (runs || (rt_turn_state(number) == RADDLE_SLOT_BLOCKED && atomic_load(&slot->timed))) {
		o->running++;
		o->last = number;
	}
	if (runs) {
		o->awake += !rt_turn_sleeps(slot->tid);
		o->delay += rt_turn_delay(slot->tid);
	}
}

static struct others look_at_others(uint32_t self)
{
	struct others o = {.last = RADDLE_STEER_NONE};

	for (uint32_t i = 0; i < rt_slot_count(); i++)
		if (i != self)
			look_at(i, &o);
	return o;
}

/* Notes how often the only thread that runs has yielded since its last access or operation. */
static void look_for_progress(struct rt_moment *m, const struct others *o)
{
	uint32_t lone = o->running == 1 ? o->last : RADDLE_STEER_NONE;
	const struct raddle_slot *slot = lone != RADDLE_STEER_NONE ? rt_slot_at(lone) : NULL;
	uint64_t steps = slot ? atomic_load(&slot->accesses) + atomic_load(&slot->n) : 0;
	uint64_t yields = slot ? atomic_load(&slot->yields) : 0;

	if (lone != m->lone || steps != m->steps) {
		m->lone = lone;
		m->steps = steps;
		m->yields = yields;
	}
	m->in_vain = rt_steer()->most_yields && yields - m->yields >= rt_steer()->most_yields;
}

struct rt_moment rt_moment_begin(uint32_t slot)
{
	struct others o = look_at_others(slot);
	struct rt_moment m = {.slot = slot,
			      .real = rt_now(),
			      .cpu = rt_moment_cpu(CLOCK_PROCESS_CPUTIME_ID),
			      .delay = o.delay,
			      .lone = RADDLE_STEER_NONE};

	look_for_progress(&m, &o);
	return m;
}

/* Returns how much of the real time the other threads could use.  If they are awake, but neither
 * ran nor waited for a processor, they are stopped or wait for a disk. */
static uint64_t usable(uint64_t real, uint64_t cpu, uint64_t delay, uint64_t awake)
{
	uint64_t lost = awake ? delay / awake : 0;

	if (!awake)
		return ASLEEP_MOST_NS;
	return (!cpu && !delay) || lost > real - real / STARVED_SHARE ? real / STARVED_SHARE : real - lost;
}

/* Adds what has passed since the last measurement. */
static void measure(struct rt_moment *m)
{
	uint64_t now = rt_now(), real = now - m->real, cpu, passed;
	struct others o;

	if (real < STEP_NS)
		return;
	cpu = rt_moment_cpu(CLOCK_PROCESS_CPUTIME_ID);
	o = look_at_others(m->slot);
	passed = usable(real, cpu - m->cpu, o.delay > m->delay ? o.delay - m->delay : 0, o.awake);
	m->length += passed < real ? passed : real;
	m->real = now;
	m->cpu = cpu;
	m->delay = o.delay;
	look_for_progress(m, &o);
}

bool rt_moment_lasts(struct rt_moment *m, uint64_t length)
{
	measure(m);
	return m->length < length && !m->in_vain;
}
