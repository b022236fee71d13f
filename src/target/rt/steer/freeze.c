// SPDX-License-Identifier: Apache-2.0
/*
 * Snapshots: a program is frozen at a point, and forks copies for the runs that continue from there
 * (raddle/steer.h).  In: the replayer's requests.  Out: copies, which are children of the replayer.
 *
 * All threads run on one kernel thread (rt/steer/context.c), so a fork copies all of them.  fork()
 * of libc is not used: it would give back the stacks of the other threads, and it would call
 * handlers of the program.
 *
 * Invariants:
 * 1. A program is frozen only if a copy behaves as the program itself would.  It has not changed
 *    the file system, because copies would see each other's changes.  It has no child processes,
 *    timers, other kernel threads or writable shared memory.  The files that it has opened are
 *    read-only files, or devices without a position.
 * 2. Copies run one after the other.  Before each fork, the positions of open files are reset to
 *    what they were when the program was frozen.
 * 3. The program does not notice that it is a copy.  If it has asked for its process ID before,
 *    getpid() and gettid() still return the ID of the frozen process.  This also keeps the owner
 *    IDs valid that libc stores in mutexes.
 * 4. A memory model has made no choice yet.  So its seed and its list of choices do not matter
 *    before this point, and the replayer writes them for each copy.
 */
#include "rt/core/control/choose.h"
#include "rt/core/real.h"
#include "rt/steer/expect-int.h"
#include "rt/steer/turn-int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The values below were chosen by hand. */
/* How often the runtime checks whether kernel threads that are ending have ended: first with
 * yields, then with sleeps of 1 ms in between.  This takes seconds only on a very busy machine. */
#define ENDING_YIELDS 200
#define ENDING_NAPS 3000
#define READ_SIZE 4096	/* bytes of /proc that are read at once */
#define THREADS_MAX 256 /* maximum number of threads that are made in advance */

static struct rt_frozen *frozen(void)
{
	return &rt_steering()->frozen;
}

/* ---- what a copy would share ---- */

/* Called for each open file.  Returns false to end the walk. */
typedef bool file_fn(int fd, const struct stat *st);

static bool note_inherited(int fd, const struct stat *st)
{
	struct rt_frozen *h = frozen();

	if (fd > STDERR_FILENO && h->inherited_count < RT_FROZEN_FILES)
		h->inherited[h->inherited_count++] = (struct rt_inherited){fd, st->st_dev, st->st_ino};
	return true;
}

static bool is_inherited(int fd, const struct stat *st)
{
	for (size_t i = 0; i < frozen()->inherited_count; i++) {
		const struct rt_inherited *f = &frozen()->inherited[i];

		if (f->fd == fd && f->device == st->st_dev && f->inode == st->st_ino)
			return true;
	}
	return false;
}

/* Notes the position of a file.  Returns false if a copy must not share the file. */
static bool note_file(int fd, const struct stat *st)
{
	long at = syscall(SYS_lseek, fd, 0L, SEEK_CUR), mode = syscall(SYS_fcntl, fd, F_GETFL, 0L);
	bool regular = S_ISREG(st->st_mode);

	if (is_inherited(fd, st))
		return true;
	if (frozen()->count == RT_FROZEN_FILES)
		return false;
	if (at >= 0 && regular)
		frozen()->files[frozen()->count++] = (struct rt_position){fd, at};
	if (fd <= STDERR_FILENO)
		return true;
	return regular ? (mode & O_ACCMODE) == O_RDONLY : S_ISCHR(st->st_mode);
}

static int number_of(const char *name)
{
	int n = 0;

	while (*name >= '0' && *name <= '9')
		n = n * 10 + (*name++ - '0');
	return *name ? -1 : n;
}

/* Calls `each` for the files listed in a part of the directory.  Returns false if `each` did. */
static bool walk_entries(const char *entries, long length, int directory, file_fn *each)
{
	for (long at = 0; at < length;) {
		const struct dirent64 *e = (const struct dirent64 *)(const void *)(entries + at);
		int fd = number_of(e->d_name);
		struct stat st;

		if (e->d_name[0] != '.' && fd != directory &&
		    (fd < 0 || syscall(SYS_fstat, fd, &st) || !each(fd, &st)))
			return false;
		at += e->d_reclen;
	}
	return true;
}

/* Calls `each` for all open files.  Returns true if `each` returned true for all of them. */
static bool walk_files(file_fn *each)
{
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0),
	     length = -1;
	_Alignas(struct dirent64) char entries[READ_SIZE];
	bool fine = fd >= 0;

	while (fine && (length = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0)
		fine = walk_entries(entries, length, (int)fd, each);
	if (fd >= 0)
		syscall(SYS_close, fd);
	return fine && length == 0;
}

/* Returns true if a line of /proc/self/maps describes a writable shared mapping other than the
 * session's. */
static bool is_shared(const char *line, uintptr_t unused)
{
	uintptr_t start = rt_expect_bound(&line);

	(void)unused;
	rt_expect_bound(&line);
	return line[0] && line[1] == 'w' && line[2] && line[3] == 's' && start != (uintptr_t)rt.session;
}

/* Returns true if there is only one kernel thread.  Waits for a while first, because the kernel
 * threads of new and ended threads are about to end. */
static bool is_alone(void)
{
	_Atomic uint32_t never = 0;
	struct stat st;

	for (int i = 0; i < ENDING_YIELDS + ENDING_NAPS; i++) {
		if (syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0L))
			return false;
		if (st.st_nlink == 3) /* the directory, its parent's entry, and one thread */
			return true;
		if (i < ENDING_YIELDS)
			syscall(SYS_sched_yield);
		else
			rt_futex_wait(&never, 0, 1);
	}
	return false;
}

/* Returns true if a memory model has already made choices.  Other runs may make other choices, so
 * they may differ before this point. */
static bool has_chosen(void)
{
	struct raddle_memory *m = rt_memory_plan();

	return m && (atomic_load(&m->choices) || atomic_load(&m->nexts));
}

static enum raddle_frozen check(void)
{
	if (has_chosen())
		return RADDLE_UNFROZEN_CHOICES;
	if (atomic_load(&rt_steer()->unsure) || !is_alone())
		return RADDLE_UNFROZEN_THREADS;
	if (rt_turn_has_children())
		return RADDLE_UNFROZEN_CHILDREN;
	if (rt.changed_outside)
		return RADDLE_UNFROZEN_CHANGES;
	if (rt_turn_has_timers())
		return RADDLE_UNFROZEN_TIMERS;
	if (!walk_files(note_file))
		return RADDLE_UNFROZEN_FILES;
	return rt_maps_any(is_shared, 0, true) ? RADDLE_UNFROZEN_MEMORY : RADDLE_FROZEN;
}

/* ---- copies ---- */

/* Called in a new process.  It is killed when its parent, the replayer, dies. */
static void begin_process(void)
{
	syscall(SYS_set_robust_list, frozen()->robust, frozen()->robust_size);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* Called in a copy at the beginning of each run. */
static void begin_copy(void)
{
	struct rt_turns *turn = &rt_steering()->turns;

	if (rt.asked_pid)
		rt.copied_pid = rt.pid;
	rt.pid = (pid_t)syscall(SYS_getpid);
	rt_guard.alive = frozen()->alive;
	if (rt.trapped || rt_reset_is_on())
		rt.trapped = rt.pid;
	atomic_store(&rt.session->processes[rt.process].pid, rt.pid);
	for (uint32_t i = 0; i < rt_slot_count(); i++)
		rt_slot_at(i)->tid = (uint32_t)rt.pid;
	/* What was computed from the plan has to be computed again. */
	turn->watches = turn->weighed = RADDLE_STEER_NONE;
	turn->changes_seed = 0;
	rt_steer_match_plan();
}

void rt_freeze_seek(void)
{
	for (size_t i = 0; i < frozen()->count; i++)
		rt_bare(SYS_lseek, frozen()->files[i].fd, frozen()->files[i].at, SEEK_SET);
}

static long make_copy(void)
{
	rt_freeze_seek();
	return syscall(SYS_clone, CLONE_PARENT | CLONE_CHILD_CLEARTID | SIGCHLD, 0L, NULL,
		       rt_steering()->contexts[0] ? rt_steering()->contexts[0]->tid : NULL, 0L);
}

/* Never returns.  A copy leaves it for the program at the beginning of each run (rt_reset_run()). */
static void serve(void)
{
	struct raddle_freezing *s = &rt_steer()->freezing;
	long pid;

	for (uint32_t naps = 0;; naps++) {
		while (atomic_load(&s->copying) == RADDLE_COPY_WANTED) {
			pid = make_copy();
			if (pid == 0) {
				begin_process();
				rt_reset_run(rt_steering()->frozen.reset);
			}
			naps = 0;
			atomic_store(&s->copy, (int32_t)pid);
			atomic_store(&s->copying, RADDLE_COPY_MADE);
			rt_futex_wake(&s->copying, INT32_MAX);
		}
		rt_futex_wait(&s->copying, atomic_load(&s->copying), RT_NAP_MS);
		if (rt_steer_is_deserted(naps))
			syscall(SYS_exit_group, 0L);
	}
}

void rt_freeze_setup(void)
{
	if (rt_steer()->freezing.where && rt_steer_has_one())
		walk_files(note_inherited);
}

static void freeze(struct raddle_freezing *s)
{
	uint64_t signals;

	frozen()->alive = rt_guard.alive;
	rt_block_signals(&signals);
	if (syscall(SYS_get_robust_list, 0L, &frozen()->robust, &frozen()->robust_size))
		frozen()->robust = NULL;
	if (!rt_reset_setup())
		rt_context_refuse(RADDLE_UNFIT_THREADS);
	atomic_store(&s->state, RADDLE_FROZEN);
	rt_turn_wake_leader();
	rt_reset_freeze(serve);
	begin_copy();
	rt_restore_signals(&signals);
}

/* Makes in advance the threads that the program is expected to create from here on. */
static void fill_pool(uint32_t threads)
{
	uint32_t there = atomic_load(&rt.session->processes[rt.process].threads) - 1,
		 more = threads > there ? threads - there : 0;

	rt_park_fill(more < THREADS_MAX ? more : THREADS_MAX);
}

void rt_freeze_at(enum raddle_freeze where)
{
	struct raddle_freezing *s = &rt_steer()->freezing;
	enum raddle_frozen why;
	int saved = errno;

	if (RT_LIKELY(s->where != where) || !rt_steer_has_one())
		return;
	s->where = RADDLE_FREEZE_NOWHERE;
	s->points = rt_steering()->turns.points;
	fill_pool(s->threads);
	why = check();
	if (why == RADDLE_FROZEN)
		freeze(s);
	else
		atomic_store(&s->state, why);
	errno = saved;
}

/* Until the second thread is created, there is nothing to schedule.  Counts start there, so that
 * the choices of a run do not depend on which points came before. */
void rt_freeze_at_creation(struct rt_thread *t)
{
	if (t->number == 0 && rt_steered(t)->slot && rt_takes_turns() &&
	    atomic_load(&rt.session->processes[rt.process].threads) == 1) {
		rt_turn_start_counts(t);
		rt_freeze_at(RADDLE_FREEZE_CREATION);
	}
}
