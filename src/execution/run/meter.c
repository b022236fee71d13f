// SPDX-License-Identifier: Apache-2.0
/*
 * The meter of a run.  It reads the clocks of the process, the states of its threads, and the
 * kernel's count of processes that were killed for lack of memory.  If the program exceeds its
 * limits, the meter sends it SIGTERM or SIGKILL.  In the end it determines how the program ended.
 *
 * A program stalls if its time is up and all of its threads have slept for a while.  A program
 * that is running or runnable gets `patience` times as long, because a busy machine may have
 * delayed it.
 */
#include "run/meter.h"

#include "base/clock.h"
#include "base/error.h"
#include "run/forward.h"
#include "run/launch.h"
#include "run/orphan.h"
#include "run/proc.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds before the first check.  Short programs end earlier and are never checked. */
#define FIRST_NS 20000000
/* Nanoseconds without processor time after which a program counts as asleep. */
#define STILL_NS 200000000

/* Returns the number of processes that the kernel has killed because memory ran out. */
static uint64_t count_kills(void)
{
	FILE *in = fopen("/proc/vmstat", "re");
	uint64_t count = 0;
	char line[128];

	while (in && fgets(line, sizeof line, in))
		if (sscanf(line, "oom_kill %" SCNu64, &count) == 1)
			break;
	if (in)
		fclose(in);
	return count;
}

void run_meter_start(struct run_meter *m, const struct run_limits *limits, bool apart)
{
	*m = (struct run_meter){.apart = apart, .started_ns = rd_now_ns(), .kills = UINT64_MAX};
	if (limits) {
		m->limits = *limits;
		m->kills = count_kills();
	}
	getrusage(RUSAGE_CHILDREN, &m->before);
}

/* ---- while the program runs ---- */

/* Judges a program whose time is up.  A program that seems to be asleep is observed for STILL_NS
 * first. */
static enum run_how judge_late(const struct run_meter *m, pid_t pid, int64_t now)
{
	const struct run_limits *l = &m->limits;
	int64_t end = m->started_ns + (int64_t)(l->wall_ms * (l->patience ? l->patience : 1)) * 1000000;
	bool asleep = run_process_is_asleep(pid);

	if (asleep && now - m->moved_ns > STILL_NS)
		return RUN_STALLED;
	return now > end + (asleep ? 3 * STILL_NS : 0) ? RUN_TIMED_OUT : RUN_EXITED;
}

/* Judges a program whose program time is up.  A program that seems to be asleep is observed for
 * STILL_NS first, but is ended when it has used twice its time, since it may wake up now and then. */
static enum run_how judge_worked(const struct run_meter *m, pid_t pid, int64_t now, int64_t worked)
{
	if (!run_process_is_asleep(pid) || worked > 2 * rd_ms_to_ns(m->limits.work_ms))
		return RUN_TIMED_OUT;
	return now - m->moved_ns > STILL_NS ? RUN_STALLED : RUN_EXITED;
}

/* Returns the reason why the program has to be ended, or RUN_EXITED if it may continue. */
static enum run_how judge(struct run_meter *m, pid_t pid, int64_t now)
{
	RD_ASSERT(now >= m->started_ns);
	const struct run_limits *l = &m->limits;
	uint64_t wall_ms = (uint64_t)(now - m->started_ns) / 1000000u,
		 cpu = (uint64_t)run_process_cpu_ns(pid) / 1000u;
	int64_t worked;

	if (l->interrupts && run_forward_asked() >= l->interrupts)
		return RUN_INTERRUPTED;
	if (now - m->started_ns < FIRST_NS)
		return RUN_EXITED;
	if (cpu != m->last_cpu_us) {
		m->last_cpu_us = cpu;
		m->moved_ns = now;
	}
	if (l->cpu_ms && cpu > l->cpu_ms * 1000)
		return RUN_TIMED_OUT;
	worked = l->work_ms ? run_clock_now(&m->clock, pid) : 0;
	if (l->work_ms && worked > rd_ms_to_ns(l->work_ms))
		return judge_worked(m, pid, now, worked);
	return l->wall_ms && wall_ms > l->wall_ms ? judge_late(m, pid, now) : RUN_EXITED;
}

static void end_by(const struct run_meter *m, pid_t pid, int number)
{
	RD_ASSERT(pid > 1);
	if (m->apart)
		kill(-pid, number);
	kill(pid, number);
}

static bool has_grace(const struct run_meter *m)
{
	return m->limits.grace_ms && m->how != RUN_INTERRUPTED;
}

void run_meter_expire(struct run_meter *m)
{
	m->limits.wall_ms = 1;
	m->limits.patience = 0;
}

void run_meter_look(struct run_meter *m, pid_t pid)
{
	int64_t now = rd_now_ns();
	enum run_how how = judge(m, pid, now);

	if (!m->ended && how != RUN_EXITED) {
		m->ended = true;
		m->how = how;
		m->told_ns = now;
		end_by(m, pid, has_grace(m) ? SIGTERM : SIGKILL);
	} else if (m->ended && has_grace(m) &&
		   (how == RUN_INTERRUPTED || now - m->told_ns > (int64_t)m->limits.grace_ms * 1000000)) {
		end_by(m, pid, SIGKILL);
	}
}

/* ---- the end of the program ---- */

enum run_how run_how_of(int status, enum run_how how, uint64_t kills)
{
	if (how != RUN_EXITED)
		return how;
	if (!WIFSIGNALED(status))
		return RUN_EXITED;
	return WTERMSIG(status) == SIGKILL && kills ? RUN_OUT_OF_MEMORY : RUN_SIGNALLED;
}

static uint64_t microseconds(struct timeval now, struct timeval before)
{
	return (uint64_t)((now.tv_sec - before.tv_sec) * 1000000 + now.tv_usec - before.tv_usec);
}

void run_meter_stop(const struct run_meter *m, pid_t pid, int status, struct run_end *end)
{
	RD_ASSERT(pid > 1 && end != NULL);
	bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !m->ended;
	struct rusage now;

	if (m->apart)
		kill(-pid, SIGKILL);
	if (WIFSIGNALED(status))
		run_left_remove(pid);
	getrusage(RUSAGE_CHILDREN, &now);
	*end = (struct run_end){
		.how = run_how_of(status, m->ended ? m->how : RUN_EXITED,
				  killed && m->kills != UINT64_MAX ? count_kills() - m->kills : 0),
		.status = status,
		.wall_us = (uint64_t)(rd_now_ns() - m->started_ns) / 1000u,
		.cpu_us = microseconds(now.ru_utime, m->before.ru_utime) +
			  microseconds(now.ru_stime, m->before.ru_stime),
		.peak_kb = (uint64_t)now.ru_maxrss};
	end->work_us = (uint64_t)m->clock.now_ns / 1000u;
	if (end->work_us < end->cpu_us)
		end->work_us = end->cpu_us;
}
