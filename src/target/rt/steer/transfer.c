// SPDX-License-Identifier: Apache-2.0
/*
 * Reads and writes that libraries make with their own system call instruction, as libc does for its
 * streams, and writes for which a pipe has no room (rt/steer/trap.c).  In: a trapped read(),
 * write() or sendto().  Out: its result.  A thread that would have to wait in the kernel waits by
 * turns (rt/steer/blocking.c).
 *
 * A write to a pipe or socket within the process is made in parts, each as large as the free room
 * allows.  Other threads may run between two parts, as they may in the kernel.
 */
#include "rt/core/io/outside.h"
#include "rt/steer/turn-int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* The arguments of all three calls, by their positions. */
enum { DESCRIPTOR, BYTES, SIZE, FLAGS, ADDRESS, ADDRESS_SIZE };

static bool is_socket(long fd)
{
	struct stat s;

	return !rt_bare(SYS_fstat, fd, (long)&s) && S_ISSOCK(s.st_mode);
}

/* Writes as much as there is room for.  Only this thread runs, so it may make the pipe non-blocking
 * for a moment. */
static long write_part(long fd, long from, long size, long flags)
{
	long r, state;

	if (is_socket(fd))
		return rt_bare(SYS_sendto, fd, from, size, flags | MSG_DONTWAIT);
	state = rt_bare(SYS_fcntl, fd, F_GETFL);
	rt_bare(SYS_fcntl, fd, F_SETFL, state | O_NONBLOCK);
	r = rt_bare(SYS_write, fd, from, size);
	rt_bare(SYS_fcntl, fd, F_SETFL, state);
	return r;
}

/* Waits for room.  Returns false if there is still none, because the wait is left to the kernel. */
static bool has_room(long fd)
{
	struct pollfd one = {(int)fd, POLLOUT, 0};

	return rt_awaits_descriptor((int)fd, POLLOUT, false) && rt_bare(SYS_poll, (long)&one, 1) != 0;
}

static long write_by_parts(long number, const long *a)
{
	long done = 0, r = 0, flags = number == SYS_sendto ? a[FLAGS] : 0;

	while (done < a[SIZE]) {
		r = write_part(a[DESCRIPTOR], a[BYTES] + done, a[SIZE] - done, flags);
		if (r == -EAGAIN && !has_room(a[DESCRIPTOR]))
			r = rt_bare(number, a[DESCRIPTOR], a[BYTES] + done, a[SIZE] - done, flags);
		else if (r == -EAGAIN)
			continue;
		if (r <= 0)
			break;
		done += r;
		RT_NOTIFY(moved);
	}
	return done ? done : r;
}

static bool may_wait(long number, const long *a)
{
	bool never = number == SYS_sendto && (a[FLAGS] & MSG_DONTWAIT || a[ADDRESS]);

	return !never && rt_blocking_is_channel((int)a[DESCRIPTOR]) &&
	       !(rt_bare(SYS_fcntl, a[DESCRIPTOR], F_GETFL) & O_NONBLOCK);
}

long rt_transfer(long number, const long *a)
{
	struct rt_thread *t = __raddle_self == &rt_placeholder ? NULL : (struct rt_thread *)__raddle_self;
	bool turns = t && t->recording == RT_LISTENED && rt_steered(t)->slot && !t->busy &&
		     rt_futex_runs(t) && rt_turn_taken();

	if (turns && number == SYS_read && !rt_awaits_descriptor((int)a[DESCRIPTOR], POLLIN, false))
		return -EINTR;
	if (turns && number != SYS_read && may_wait(number, a))
		return write_by_parts(number, a);
	return rt_bare_call(number, a);
}
