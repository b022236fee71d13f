// SPDX-License-Identifier: Apache-2.0
/*
 * Copies of a frozen program that make several runs (raddle/freeze.h).  In: a copy whose run has
 * ended.  Out: the same process in the state of a new copy.
 *
 * Forking a process, its page faults and its end take longer than a short run.  So a copy does not end
 * with its run.  It goes back to the state in which the program was frozen, and waits for the next
 * run.  It restores its memory (rt/steer/pages.c) and the blocked signals; the positions of files
 * are reset as for a new copy (rt/steer/freeze.c).  If the run has changed anything else
 * (rt/steer/changes.c), the process ends and the frozen program forks another copy.
 *
 * The frozen program, and a copy between two runs, wait on a separate stack.  So all stacks of the
 * program's threads can be restored like other memory.
 */
#include "rt/core/tables.h"
#include "rt/steer/reset-int.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

/* How long a copy that waits for its next run sleeps between two checks, in milliseconds.  The replayer
 * wakes it, and the kernel kills it when the replayer dies, so this only guards against a lost wake-up. */
#define IDLE_MS 1000

/* ---- between two runs ---- */

static uint64_t cpu_time(void)
{
	struct timespec t = {0};

	rt_bare(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, (long)&t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void block_signals(void)
{
	uint64_t all = RT_ALL_SIGNALS;

	rt_bare(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, sizeof all);
}

/* Ends the process with this wait status. */
static void end_process(uint32_t status)
{
	if (status == SIGKILL)
		rt_bare(SYS_kill, rt_bare(SYS_getpid, 0), SIGKILL);
	rt_bare(SYS_exit_group, status >> 8);
}

/* Reports the end of the run, and waits until the next one may begin. */
static void await_run(struct raddle_freezing *s, uint32_t status)
{
	atomic_store(&s->again, 0);
	atomic_store(&s->ended, 1 + status);
	rt_turn_wake_leader();
	while (!atomic_load(&s->again))
		rt_futex_wait(&s->again, 0, IDLE_MS);
	s->began_ns = cpu_time();
}

/* Makes the runs of a copy.  If a run cannot be followed by another, the process ends. */
_Noreturn void rt_reset_run(struct rt_reset *r)
{
	struct raddle_freezing *s = &rt_steer()->freezing;

	r->on = s->resets && r->able && rt_pages_begin() && rt_changes_watch(&r->changes);
	s->resets = r->on;
	for (;;) {
		rt_context_jump(&r->server, &r->frozen);
		s->ended_ns = cpu_time();
		block_signals();
		if (!rt_changes_undo(&r->changes) || !rt_pages_restore(&r->pages)) {
			s->lasting = 1;
			end_process(r->status);
		}
		await_run(s, r->status);
		rt_freeze_seek();
	}
}

bool rt_reset_is_on(void)
{
	return rt_reset() && rt_reset()->on;
}

/* Leaves the run for the loop in rt_reset_run().  Returns if no other run can follow. */
static void leave_run(uint32_t status)
{
	struct rt_reset *r = rt_reset();

	if (r->changes.lasting)
		rt_steer()->freezing.lasting = 1;
	if (r->changes.lasting || atomic_load(&rt_steer()->unfit))
		return;
	r->status = status;
	rt_context_jump(&r->run, &r->server);
}

void rt_reset_end(uint32_t code)
{
	leave_run((code & 0xff) << 8);
}

void rt_reset_obey(void)
{
	if (RT_LIKELY(!atomic_load(&rt_steer()->freezing.quits)) || !rt_reset_is_on())
		return;
	leave_run(SIGKILL);
	end_process(SIGKILL);
}

/* ---- the frozen program ---- */

bool rt_reset_setup(void)
{
	struct rt_reset *r = rt_map(sizeof *r);
	char *reserve;

	rt_steering()->frozen.reset = r;
	if (!r)
		return false;
	reserve = rt_pages_fit() ? rt_map(RT_RESET_RESERVE) : NULL;
	r->able = reserve && rt_pages_list(&r->pages);
	if (r->able) {
		rt_tables.reserve.start = rt_tables.reserve.at = reserve;
		rt_tables.reserve.end = reserve + RT_RESET_RESERVE;
	}
	return true;
}

void rt_reset_freeze(void (*serve)(void))
{
	struct rt_reset *r = rt_reset();

	rt_context_make(&r->server, r->stack, sizeof r->stack, serve);
	rt_context_jump(&r->frozen, &r->server);
}
