// SPDX-License-Identifier: Apache-2.0
/*
 * The clock of a program (run/clock.h).  In: looks at a process.  Out: how long the program had the
 * opportunity to run.
 *
 * The clock never runs faster than real time.
 */
#include "run/clock.h"

#include "base/clock.h"
#include "base/error.h"
#include "run/proc.h"

/* These values were chosen by hand. */
/* Nanoseconds of real time between two looks; shorter intervals cost more time than they are
 * worth. */
#define LOOK_NS (10 * RD_NS_PER_MS)
/* Maximum by which the clock advances between two looks at a program that sleeps.  If the second
 * look comes later than this, the machine delayed Raddle, and may have delayed the program, too. */
#define ASLEEP_MOST_NS (100 * RD_NS_PER_MS)
/* For a program that is awake but gets no processor, the clock advances by this share of real time.
 * So a limit of 10 s ends a stopped program after about eleven minutes. */
#define STARVED_SHARE 64

static int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Returns how much of the real time the program could use.  A program that is awake, but neither
 * ran nor waited for a processor, is stopped or waits for a disk. */
static int64_t usable(int64_t real, int64_t cpu, int64_t delay, size_t awake)
{
	int64_t least = real / STARVED_SHARE, lost;

	if (!awake)
		return ASLEEP_MOST_NS;
	if (cpu <= 0 && delay <= 0)
		return least;
	lost = delay > 0 ? delay / (int64_t)awake : 0;
	return lost > real - least ? least : real - lost;
}

void run_clock_step(struct run_clock *c, const struct run_clock_look *look)
{
	int64_t real = look->real_ns - c->real_ns, cpu = look->cpu_ns - c->cpu_ns,
		delay = look->delay_ns - c->delay_ns;

	if (!c->now_ns) {
		*c = (struct run_clock){1, look->real_ns, look->cpu_ns, look->delay_ns};
		return;
	}
	RD_ASSERT(real >= 0);
	c->now_ns += lesser(usable(real, cpu, delay, look->awake), real);
	c->real_ns = look->real_ns;
	c->cpu_ns = cpu > 0 ? look->cpu_ns : c->cpu_ns;
	c->delay_ns = look->delay_ns;
}

int64_t run_clock_now(struct run_clock *c, pid_t pid)
{
	struct run_clock_look look = {.real_ns = rd_now_ns()};

	if (look.real_ns - c->real_ns < LOOK_NS)
		return c->now_ns;
	look.cpu_ns = run_process_cpu_ns(pid);
	look.delay_ns = run_process_delay_ns(pid);
	look.awake = run_process_awake(pid);
	run_clock_step(c, &look);
	return c->now_ns;
}
