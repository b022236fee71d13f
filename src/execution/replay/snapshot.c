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

void replay_snapshot_close(struct replay_snapshot *s)
{
	if (!s->pid)
		return;
	kill(s->pid, SIGKILL);
	rd_reap(s->pid, NULL);
	run_image_release(&s->image);
	for (int i = 0; i < 2; i++)
		rd_buf_release(&s->written[i]);
	replay_world_close(s->world);
	run_session_close(&s->session);
	*s = (struct replay_snapshot){.freeze = s->freeze, .after = s->after, .off = true};
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

pid_t snapshot_copy(void *snapshot)
{
	struct replay_snapshot *s = snapshot;
	struct raddle_steer *steer = steer_of(s);
	struct timespec look = {0, LOOK_MS * 1000000L};

	atomic_store(&steer->freezing.copying, RADDLE_COPY_WANTED);
	syscall(SYS_futex, &steer->freezing.copying, FUTEX_WAKE, 1, NULL, NULL, 0);
	while (atomic_load(&steer->freezing.copying) == RADDLE_COPY_WANTED) {
		syscall(SYS_futex, &steer->freezing.copying, FUTEX_WAIT, RADDLE_COPY_WANTED, &look, NULL, 0);
		if (atomic_load(&steer->freezing.copying) == RADDLE_COPY_WANTED && is_gone(s->pid))
			return -1;
	}
	return atomic_load(&steer->freezing.copy) > 0 ? atomic_load(&steer->freezing.copy) : -1;
}
