// SPDX-License-Identifier: Apache-2.0
/*
 * The replayer's side of snapshots (replay/snapshot.h).  In: a program that is frozen.  Out: copies
 * of it, and the memory and streams that each copy needs.
 *
 * The frozen program and its copies share one session, so a copy is made only after the previous one
 * has ended.
 */
#include "replay/snapshot-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/process.h"
#include "replay/world-int.h"
#include "run/streams.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 20 /* how often the replayer checks whether the frozen program is alive */
/* A copy makes at most RUNS_MAX runs after its first one.  It makes no further run once it has used
 * CPU_MAX_NS of processor time, so that it stays below a limit that the user may have set.  If SINGLE_MAX
 * copies in a row made only one run, later copies do not try to make several.  All three values were
 * chosen by hand. */
#define RUNS_MAX 1000
#define CPU_MAX_NS 1000000000u
#define SINGLE_MAX 8

static struct raddle_steer *steer_of(const struct replay_snapshot *s)
{
	return run_session_steer(&s->session);
}

/* ---- taking and closing ---- */

int snapshot_take(struct replay_snapshot *s, struct replay *r, pid_t pid)
{
	const int *streams = r->request->streams;
	int err = 0;

	RD_ASSERT(streams && pid > 1 && !s->pid);
	s->pid = pid;
	s->session = r->session;
	s->world = r->world;
	s->slots_at = (uint64_t)((char *)r->slots - (char *)r->steer);
	s->memory_at = r->turns.memory_at;
	s->threads = r->threads;
	s->points = r->steer->freezing.points;
	s->input = lseek(streams[STDIN_FILENO], 0, SEEK_CUR);
	for (int i = 0; i < 2 && !err; i++) {
		s->written[i] = (struct rd_buf)RD_BUF_INIT;
		err = run_stream_read(streams[STDOUT_FILENO + i], &s->written[i]);
	}
	if (!err)
		err = run_image_take(&s->image, &s->session);
	if (err)
		replay_snapshot_close(s);
	return err;
}

static void end_copy(struct replay_snapshot *s)
{
	if (!s->copy)
		return;
	kill(s->copy, SIGKILL);
	rd_reap(s->copy, NULL);
	s->copy = 0;
}

void replay_snapshot_close(struct replay_snapshot *s)
{
	if (!s->pid)
		return;
	end_copy(s);
	kill(s->pid, SIGKILL);
	rd_reap(s->pid, NULL);
	run_image_release(&s->image);
	for (int i = 0; i < 2; i++)
		rd_buf_release(&s->written[i]);
	replay_world_close(s->world);
	run_session_close(&s->session);
	*s = (struct replay_snapshot){.freeze = s->freeze, .after = s->after, .off = true};
}

void replay_snapshot_single(struct replay_snapshot *s, const char *why)
{
	end_copy(s);
	s->resets = false;
	s->why_single = why;
}

void snapshot_note_unfrozen(struct replay_snapshot *s, const struct raddle_steer *steer)
{
	static const char *const reasons[RADDLE_FROZENS] = {
		[RADDLE_UNFROZEN_CHILDREN] = "it has child processes",
		[RADDLE_UNFROZEN_CHANGES] = "it has changed files or started processes",
		[RADDLE_UNFROZEN_TIMERS] = "it has timers",
		[RADDLE_UNFROZEN_FILES] = "it has open files that copies would share",
		[RADDLE_UNFROZEN_MEMORY] = "it shares memory with other processes",
		[RADDLE_UNFROZEN_THREADS] = "it has kernel threads that copies would lack",
		[RADDLE_UNFROZEN_CHOICES] = "its memory model has made choices before that point",
	};
	uint32_t frozen = atomic_load(&steer->freezing.state);

	s->off = true;
	s->why = frozen < RADDLE_FROZENS ? reasons[frozen] : NULL;
}

/* ---- copies ---- */

void snapshot_restore(struct replay_snapshot *s)
{
	RD_ASSERT(s->pid > 1);
	run_image_restore(&s->image, &s->session);
}

int snapshot_restore_streams(const struct replay_snapshot *s, const int *streams)
{
	if (s->input >= 0 && lseek(streams[STDIN_FILENO], s->input, SEEK_SET) < 0)
		return rd_fail_errno("cannot set the position of the standard input");
	for (int i = 0; i < 2; i++)
		if (s->written[i].length && write(streams[STDOUT_FILENO + i], s->written[i].data,
						  s->written[i].length) != (ssize_t)s->written[i].length)
			return rd_fail_errno("cannot write what the program had written");
	return 0;
}

static bool is_gone(pid_t pid)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == pid;
}

/* Lets the copy that made the last run make the next one, too. */
static pid_t run_again(struct replay_snapshot *s)
{
	struct raddle_freezing *f = &steer_of(s)->freezing;

	s->runs++;
	f->resets = 1;
	atomic_store(&f->again, 1);
	syscall(SYS_futex, &f->again, FUTEX_WAKE, 1, NULL, NULL, 0);
	return s->copy;
}

bool snapshot_quit(const struct replay_snapshot *s)
{
	struct raddle_freezing *f = &steer_of(s)->freezing;

	if (!f->resets || atomic_load(&f->quits))
		return false;
	atomic_store(&f->quits, 1);
	syscall(SYS_futex, &f->quits, FUTEX_WAKE, 1, NULL, NULL, 0);
	return true;
}

bool snapshot_has_ended(const struct replay_snapshot *s, int *status)
{
	uint32_t ended = atomic_load(&steer_of(s)->freezing.ended);

	if (ended)
		*status = (int)(ended - 1);
	return ended != 0;
}

uint64_t snapshot_end_run(struct replay_snapshot *s, pid_t pid, bool lives, uint64_t *cpu_ns)
{
	const struct raddle_freezing *f = &steer_of(s)->freezing;

	if (lives) {
		*cpu_ns = f->ended_ns - f->began_ns;
		s->copy = pid;
		s->single = 0;
		if (s->runs >= RUNS_MAX || f->ended_ns > CPU_MAX_NS)
			end_copy(s);
		return f->began_ns;
	}
	s->copy = 0;
	if (s->resets && !f->resets)
		replay_snapshot_single(s, "its memory cannot be restored, or it has signal handlers");
	if (s->resets && f->lasting && s->runs == 0 && ++s->single == SINGLE_MAX)
		replay_snapshot_single(s, "its runs change something that a copy cannot restore");
	return f->began_ns;
}

pid_t snapshot_copy(void *snapshot)
{
	struct replay_snapshot *s = snapshot;
	struct raddle_steer *steer = steer_of(s);
	struct timespec look = {0, LOOK_MS * 1000000L};

	if (s->copy)
		return run_again(s);
	s->runs = 0;
	steer->freezing.resets = s->resets;
	atomic_store(&steer->freezing.copying, RADDLE_COPY_WANTED);
	syscall(SYS_futex, &steer->freezing.copying, FUTEX_WAKE, 1, NULL, NULL, 0);
	while (atomic_load(&steer->freezing.copying) == RADDLE_COPY_WANTED) {
		syscall(SYS_futex, &steer->freezing.copying, FUTEX_WAIT, RADDLE_COPY_WANTED, &look, NULL, 0);
		if (atomic_load(&steer->freezing.copying) == RADDLE_COPY_WANTED && is_gone(s->pid))
			return -1;
	}
	return atomic_load(&steer->freezing.copy) > 0 ? atomic_load(&steer->freezing.copy) : -1;
}
