// SPDX-License-Identifier: Apache-2.0
/*
 * Waiting for descriptors, where threads take turns.  In: a thread that is about to wait in the
 * kernel, until it can read, accept or write, or until poll() or epoll_wait() reports something.
 * Out: a wait by turns (rt/steer/wait.c).
 *
 * The thread first checks whether it would have to wait.  If so, other threads run.  The thread
 * becomes runnable again when another thread has written, read or closed something that ends its
 * wait.
 *
 * A wait is *inside* if only this process can end it.  That is the case if the process has no
 * children, and the wait is for pipes, socket pairs or event counters that this process has
 * created, or for epoll sets of these.  Real time has no influence on such a wait; its time limit
 * expires when no thread is runnable.  All other waits are *outside*.  If each thread has its own
 * kernel thread, outside waits are left to the kernel.  If all threads share one, the runner waits
 * in the kernel for all of them when no thread is runnable.  Then time limits expire by the clock.
 *
 * A call that waits for something else, such as a lock on a file, is repeated when another thread has
 * done something that may end its wait, and at each nap of the runner.
 *
 * A signal handler may run while the runner waits, on the stack of the thread that waited last.
 */
#include "rt/common/bug.h"
#include "rt/core/io/channel.h"
#include "rt/core/io/outside.h"
#include "rt/steer/turn-int.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNK 64	       /* maximum number of descriptors that one call examines */
#define PIPES_MAGIC 0x50495045 /* the file system type of unnamed pipes (PIPEFS_MAGIC) */
#define NS_PER_S 1000000000u
#define LOOKS 64 /* after this many looks in a row that found nothing, other threads may run */

static struct rt_wait_entry *entry_at(uint32_t number)
{
	return &rt_steering()->entries.waits[number];
}

/* ---- what a thread waits for ---- */

/* Returns true if a wait for these descriptors would end now. */
static bool is_over(const struct rt_look *look)
{
	struct pollfd chunk[CHUNK];

	for (nfds_t at = 0; at < look->count; at += CHUNK) {
		nfds_t n = look->count - at < CHUNK ? look->count - at : CHUNK;

		__builtin_memcpy(chunk, look->fds + at, n * sizeof *chunk);
		if (rt_bare(SYS_poll, (long)chunk, (long)n))
			return true;
	}
	return false;
}

/* Appends a number to a path. */
static void name_descriptor(char *path, int fd)
{
	char digits[12];
	uint32_t at = (uint32_t)__builtin_strlen(path), n = 0;

	do
		digits[n++] = (char)('0' + fd % 10);
	while (fd /= 10);
	while (n)
		path[at++] = digits[--n];
	path[at] = 0;
}

static bool is_inside(int fd, int depth);

/* Returns true if an epoll set contains only descriptors that are inside.  The kernel lists the
 * set's descriptors in lines that begin with "tfd:". */
static bool is_set_inside(int fd, int depth)
{
	char path[48] = "/proc/self/fdinfo/", text[4096];
	long file, length;

	name_descriptor(path, fd);
	file = rt_bare(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC);
	length = file < 0 ? 0 : rt_bare(SYS_read, file, (long)text, sizeof text - 1);
	if (file >= 0)
		rt_bare(SYS_close, file);
	if (length <= 0 || length == (long)sizeof text - 1)
		return false;
	text[length] = 0;
	for (const char *line = __builtin_strstr(text, "tfd:"); line; line = __builtin_strstr(line, "tfd:")) {
		int member = 0;

		for (line += 4; *line == ' '; line++)
			;
		for (; *line >= '0' && *line <= '9'; line++)
			member = member * 10 + (*line - '0');
		if (!is_inside(member, depth - 1))
			return false;
	}
	return true;
}

/* Returns true if the descriptor is an event counter, or an epoll set that is inside.  Other files
 * without an inode of their own (timers, signals, processes) are not inside. */
static bool is_anonymous_inside(int fd, int depth)
{
	char path[48] = "/proc/self/fd/", text[32] = "";

	name_descriptor(path, fd);
	if (rt_bare(SYS_readlink, (long)path, (long)text, sizeof text - 1) <= 0)
		return false;
	if (!__builtin_strcmp(text, "anon_inode:[eventfd]"))
		return true;
	return !__builtin_strcmp(text, "anon_inode:[eventpoll]") && is_set_inside(fd, depth);
}

/* Returns true if the pipe is inside.  A pipe that was already open when the program started leads
 * to another process. */
static bool is_pipe_inside(int fd, const struct stat *s)
{
	struct statfs system;

	for (int i = 0; i < RT_INHERITED; i++)
		if (rt_steering()->entries.inherited[i] == s->st_ino)
			return false;
	return !rt_bare(SYS_fstatfs, fd, (long)&system) && system.f_type == PIPES_MAGIC;
}

static bool is_inside(int fd, int depth)
{
	struct stat s;

	if (depth < 0 || rt_bare(SYS_fstat, fd, (long)&s))
		return false;
	switch (s.st_mode & S_IFMT) {
	case S_IFIFO: return is_pipe_inside(fd, &s);
	case S_IFSOCK: return rt_channel_is_pair(s.st_ino);
	case 0: return is_anonymous_inside(fd, depth);
	default: return false;
	}
}

static bool is_all_inside(const struct rt_look *look)
{
	for (nfds_t i = 0; i < look->count; i++)
		if (look->fds[i].fd >= 0 && !is_inside(look->fds[i].fd, 2))
			return false;
	return !rt_turn_has_children();
}

bool rt_blocking_is_channel(int fd)
{
	struct stat s;

	return !rt_bare(SYS_fstat, fd, (long)&s) && (S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode)) &&
	       is_inside(fd, 0);
}

void rt_blocking_setup(void)
{
	struct stat s;

	for (int fd = 0; fd < RT_INHERITED; fd++)
		if (!rt_bare(SYS_fstat, fd, (long)&s))
			rt_steering()->entries.inherited[fd] = s.st_ino;
}

/* ---- waiting ---- */

static bool is_for_descriptor(uint32_t number)
{
	return rt_slot_at(number)->since && entry_at(number)->look;
}

static bool may_be_over(const struct rt_look *look, bool moved)
{
	return look->retries ? moved : is_over(look);
}

/* Makes the threads runnable whose waits would end now.  If `moved` is true, something has changed,
 * so calls that have to be retried are repeated, too.  Returns true if there is such a thread. */
static bool make_ready(bool moved)
{
	const struct rt_set *waiting = &rt_steering()->turns.waiting;
	uint32_t count = rt_slot_count();
	bool any = false;

	for (uint32_t i = rt_set_next(waiting, 0, count); i < count; i = rt_set_next(waiting, i + 1, count)) {
		if (!is_for_descriptor(i) || rt_turn_is_ready(i) || !may_be_over(entry_at(i)->look, moved))
			continue;
		rt_turn_set_ready(i, true);
		if (!rt_turn_taken())
			rt_steer_wake(&rt_steering()->own[i]);
		any = true;
	}
	return any;
}

void rt_blocking_moved(void)
{
	uint64_t signals;

	if (!atomic_load(&rt_steering()->turns.waiting.count) ||
	    !atomic_load(&rt_steering()->entries.blocking))
		return;
	rt_steer_lock(&signals);
	make_ready(true);
	rt_steer_unlock(&signals);
}

static bool waits_outside(void)
{
	uint32_t count = rt_slot_count();

	for (uint32_t i = 0; i < count; i++)
		if (is_for_descriptor(i) && !atomic_load(&rt_slot_at(i)->inside))
			return true;
	return false;
}

/* If a wait is outside, time limits are real.  Then rt_blocking_nap() lets them expire. */
bool rt_blocking_let_in(void)
{
	if (!atomic_load(&rt_steering()->entries.blocking))
		return false;
	return make_ready(false) || waits_outside();
}

static void show_wait(struct rt_thread *t, bool inside, bool timed)
{
	struct raddle_slot *slot = rt_steered(t)->slot;

	atomic_store(&slot->object, inside ? RT_INSIDE_OBJECT : RT_OUTSIDE_OBJECT);
	atomic_store(&slot->kind, RADDLE_CHANNEL_RECEIVE);
	atomic_store_explicit(&slot->timed, timed, memory_order_relaxed);
	atomic_store_explicit(&slot->inside, inside ? RADDLE_INSIDE_DESCRIPTOR : RADDLE_INSIDE_NOT,
			      memory_order_relaxed);
	rt_steer_show(t, RADDLE_SLOT_BLOCKED);
	atomic_fetch_add(&rt_steering()->entries.blocking, 1);
}

static void show_end(struct rt_thread *t)
{
	struct raddle_slot *slot = rt_steered(t)->slot;

	atomic_fetch_sub(&rt_steering()->entries.blocking, 1);
	rt_turn_take(t);
	atomic_store_explicit(&slot->inside, RADDLE_INSIDE_NOT, memory_order_relaxed);
	atomic_store(&slot->object, 0);
	rt_steer_show(t, RADDLE_SLOT_RUNS);
}

/* Returns false if the time is up. */
static bool wait_once(struct rt_thread *t, const struct rt_look *look, bool inside,
		      const struct rt_until *until)
{
	struct rt_wait_entry *entry = entry_at(t->number), outer = *entry;
	struct rt_step step = {.t = t, .n = rt_steered(t)->n};
	bool goes_on;

	*entry = (struct rt_wait_entry){.look = look};
	show_wait(t, inside, until != NULL);
	goes_on = rt_turn_wait(&step, until);
	show_end(t);
	if (entry->interrupted)
		outer.interrupted = true;
	*entry = outer;
	return goes_on;
}

/* Called when a thread has looked without waiting and found nothing.  Such a thread lets others run
 * now and then.  If it seems to wait in a loop, this notes whether another process could end the
 * loop. */
static void looks_in_vain(struct rt_thread *t, const struct rt_look *look)
{
	if (rt_steered(t)->slot && rt_steered(t)->slot->spins && (look->retries || !is_all_inside(look)))
		rt_expect_looks(t);
	if (++rt_steered(t)->vain_looks % LOOKS == 0)
		rt_turn_yield(t);
}

/* Returns true if the wait is done here rather than in the kernel.  If each thread has its own
 * kernel thread and the program has signal handlers, the kernel does the wait, because a handler
 * has to interrupt the call. */
static bool is_handled(struct rt_thread *t, const struct rt_look *look, bool *inside)
{
	if (!rt_steered(t)->slot || t->busy || !rt_turn_taken() ||
	    (!rt_steer_has_one() && atomic_load(&rt.interruptible)))
		return false;
	*inside = !look->retries && is_all_inside(look);
	return *inside || rt_steer_has_one();
}

static int wait_until(struct rt_thread *t, struct rt_look *look, bool inside, const struct rt_until *until)
{
	bool goes_on = true;
	int r;

	entry_at(t->number)->interrupted = false;
	while (!(r = look->look(look->context)) && goes_on && rt_turn_taken()) {
		goes_on = wait_once(t, look, inside, until);
		if (entry_at(t->number)->interrupted) {
			entry_at(t->number)->interrupted = false;
			errno = EINTR;
			return -1;
		}
	}
	return r;
}

void rt_blocking_waits(struct rt_thread *t, struct rt_look *look, int64_t limit_ns)
{
	int saved = errno;
	struct timespec end;
	struct rt_until until = {CLOCK_MONOTONIC, &end};
	uint64_t ns = rt_clock_now(CLOCK_MONOTONIC) + (uint64_t)limit_ns;
	bool inside;

	end = (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
	look->result = look->look(look->context);
	look->handled = look->result || !limit_ns;
	if (!look->handled && is_handled(t, look, &inside)) {
		errno = saved;
		look->handled = true;
		look->result = wait_until(t, look, inside, limit_ns < 0 ? NULL : &until);
	}
	if (!look->handled)
		rt_clock_becomes_real(); /* the kernel waits, for a time that is not known */
	if (look->handled && !look->result)
		looks_in_vain(t, look);
	else
		rt_steered(t)->vain_looks = 0;
}

/* ---- the runner waits ---- */

/* Collects the descriptors of all waits and returns their number, at most CHUNK.  If some were left
 * out, or a wait can only be retried, *all becomes false, and the nap is shorter. */
static nfds_t collect(struct pollfd *fds, bool *all)
{
	nfds_t n = 0;

	*all = true;
	for (uint32_t i = 0; i < rt_slot_count(); i++) {
		const struct rt_look *look = entry_at(i)->look;

		if (is_for_descriptor(i) && look->retries)
			*all = false;
		for (nfds_t k = 0; is_for_descriptor(i) && k < look->count; k++) {
			if (n < CHUNK)
				fds[n++] = look->fds[k];
			else
				*all = false;
		}
	}
	return n;
}

/* Lets time limits expire by the clock. */
static void expire(void)
{
	for (uint32_t i = 0; i < rt_slot_count(); i++) {
		const struct rt_until *until = entry_at(i)->until;

		if (rt_slot_at(i)->since && until && rt_turn_is_over(until)) {
			rt_slot_at(i)->due = 1;
			rt_turn_set_ready(i, true);
		}
	}
}

/* Returns the time in nanoseconds until the first time limit expires, but at most the length of a
 * nap. */
static int64_t nap_ns(bool all)
{
	int64_t least = all ? RT_NAP_MS * 1000000 : 1000000;

	for (uint32_t i = 0; i < rt_slot_count(); i++) {
		const struct rt_until *until = entry_at(i)->until;
		int64_t left = rt_slot_at(i)->since && until ? rt_turn_left(until) : least;

		least = left < least ? left : least;
	}
	return least > 0 ? least : 0;
}

void rt_blocking_look(void)
{
	uint64_t signals;

	if (!atomic_load(&rt_steering()->entries.blocking))
		return;

	rt_steer_lock(&signals);
	make_ready(true);
	expire();
	if (rt_turn_is_idle() && rt_turn_count_ready()) {
		atomic_fetch_add(&rt_steer()->unsure, 1);
		atomic_store(&rt_steer()->running,
			     rt_set_next(&rt_steering()->turns.ready, 0, rt_slot_count()));
	}
	rt_steer_unlock(&signals);
}

bool rt_blocking_nap(const struct rt_thread *t)
{
	struct pollfd fds[CHUNK];
	struct timespec time;
	bool all;
	nfds_t count;
	int64_t ns;

	if (!atomic_load(&rt_steering()->entries.blocking) || !waits_outside())
		return false;
	rt_clock_becomes_real();
	count = collect(fds, &all);
	ns = nap_ns(all);
	time = (struct timespec){ns / NS_PER_S, ns % NS_PER_S};
	if (rt_bare(SYS_ppoll, (long)fds, (long)count, (long)&time) == -EINTR && t &&
	    is_for_descriptor(t->number)) {
		entry_at(t->number)->interrupted = true;
		rt_turn_ready(t);
	}
	rt_blocking_look();
	return true;
}
