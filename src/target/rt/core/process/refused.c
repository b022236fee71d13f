// SPDX-License-Identifier: Apache-2.0
/*
 * Reports resources that the system refuses.  In: calls that fail for lack of memory, threads,
 * processes or descriptors.  Out: notifications to the layers.  A run that fails for such a reason
 * proves nothing about its schedule.
 *
 * Functions that allocate memory or create threads and processes are interposed elsewhere and
 * report their failures here.  Most functions that open descriptors are interposed in this file.
 */
#include "raddle/steer.h"
#include "rt/core/io/channel.h"
#include "rt/core/layer.h"
#include "rt/core/io/outside.h"
#include "rt/core/real.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>

void rt_member_refused(void);
void rt_member_refused(void)
{
}

void rt_refused(int error)
{
	switch (error) {
	case ENOMEM: RT_NOTIFY(refused, RADDLE_LACK_MEMORY); break;
	case EAGAIN: RT_NOTIFY(refused, RADDLE_LACK_THREADS); break;
	case EMFILE:
	case ENFILE: RT_NOTIFY(refused, RADDLE_LACK_DESCRIPTORS); break;
	default: break;
	}
}

/* A call that opens a descriptor may return EAGAIN for reasons other than a lack of threads. */
int rt_opened(int r)
{
	if (RT_UNLIKELY(r < 0) && errno != EAGAIN)
		rt_refused(errno);
	return r;
}

/* Notifies layers if the file was opened for writing. */
static int opened(int fd, int flags)
{
	rt_opened(fd);
	if (fd >= 0 && (flags & O_ACCMODE) != O_RDONLY)
		RT_NOTIFY(writes, fd, flags & O_APPEND);
	return fd;
}

/* Returns true if fopen() with this mode does not change what is at the path. */
static bool only_reads(const char *mode)
{
	return mode[0] == 'r' && !__builtin_strchr(mode, '+');
}

static FILE *opened_stream(FILE *stream, const char *mode)
{
	if (!stream)
		rt_opened(-1);
	else if (!only_reads(mode) && rt.callbacks.writes)
		RT_NOTIFY(writes, fileno(stream), mode[0] == 'a');
	rt_path_hears();
	return stream;
}

/* Returns true if opening the file for writing would change the file system.  That is not so for a
 * device such as /dev/null, because nothing can read back what is written to it. */
static bool would_change(int at, const char *path)
{
	struct stat st;

	return rt_bare(SYS_newfstatat, at, (long)path, (long)&st, 0) || !S_ISCHR(st.st_mode);
}

static void opens_to_change(int at, const char *path)
{
	if (would_change(at, path))
		rt_path_tells();
}

/* The body of the open functions.  Their callers pass a mode only if the call may create a file. */
#define OPEN(name, at, ...)                                                                                  \
	do {                                                                                                 \
		mode_t mode_ = 0;                                                                            \
		int r_;                                                                                      \
		va_list ap_;                                                                                 \
		if (flags & (O_CREAT | __O_TMPFILE)) {                                                       \
			va_start(ap_, flags);                                                                \
			mode_ = va_arg(ap_, mode_t);                                                         \
			va_end(ap_);                                                                         \
		}                                                                                            \
		if (flags & (O_CREAT | O_TRUNC | __O_TMPFILE))                                               \
			opens_to_change(at, path);                                                           \
		r_ = opened(REAL(name)(__VA_ARGS__, flags, mode_), flags);                                   \
		rt_path_hears();                                                                             \
		return r_;                                                                                   \
	} while (0)

INTERPOSE(int, open, (const char *path, int flags, ...))
{
	OPEN(open, AT_FDCWD, path);
}

INTERPOSE(int, open64, (const char *path, int flags, ...))
{
	OPEN(open64, AT_FDCWD, path);
}

INTERPOSE(int, openat, (int at, const char *path, int flags, ...))
{
	OPEN(openat, at, at, path);
}

INTERPOSE(int, openat64, (int at, const char *path, int flags, ...))
{
	OPEN(openat64, at, at, path);
}

INTERPOSE(int, creat, (const char *path, mode_t mode))
{
	opens_to_change(AT_FDCWD, path);
	return opened(REAL(creat)(path, mode), O_WRONLY);
}

INTERPOSE(FILE *, fopen, (const char *restrict path, const char *restrict mode))
{
	if (!only_reads(mode))
		opens_to_change(AT_FDCWD, path);
	return opened_stream(REAL(fopen)(path, mode), mode);
}

INTERPOSE(FILE *, fopen64, (const char *restrict path, const char *restrict mode))
{
	if (!only_reads(mode))
		opens_to_change(AT_FDCWD, path);
	return opened_stream(REAL(fopen64)(path, mode), mode);
}

INTERPOSE(FILE *, freopen, (const char *restrict path, const char *restrict mode, FILE *restrict stream))
{
	if (path && !only_reads(mode))
		opens_to_change(AT_FDCWD, path);
	return opened_stream(REAL(freopen)(path, mode, stream), mode);
}

INTERPOSE(FILE *, freopen64, (const char *restrict path, const char *restrict mode, FILE *restrict stream))
{
	if (path && !only_reads(mode))
		opens_to_change(AT_FDCWD, path);
	return opened_stream(REAL(freopen64)(path, mode, stream), mode);
}

INTERPOSE(int, shm_open, (const char *name, int flags, mode_t mode))
{
	int fd;

	if (flags & (O_CREAT | O_TRUNC))
		rt_path_tells();
	fd = opened(REAL(shm_open)(name, flags, mode), flags);
	rt_path_hears();
	return fd;
}

INTERPOSE(int, pipe, (int fds[2]))
{
	return rt_opened(REAL(pipe)(fds));
}

INTERPOSE(int, pipe2, (int fds[2], int flags))
{
	return rt_opened(REAL(pipe2)(fds, flags));
}

INTERPOSE(int, dup, (int fd))
{
	int copy = rt_opened(REAL(dup)(fd));

	if (copy >= 0 && rt.outside && rt.outside->duplicated)
		rt.outside->duplicated(fd, copy);
	return copy;
}

/* When input is replayed, a layer may replace the requested socket by one of another kind. */
INTERPOSE(int, socket, (int domain, int type, int protocol))
{
	struct rt_thread *t = rt_outside_self();
	int wanted = domain, fd;
	bool other = t && rt.outside->opens && rt.outside->opens(t, &domain, &type, &protocol);

	fd = rt_opened(REAL(socket)(domain, type, protocol));
	if (other && fd >= 0)
		rt.outside->opened(t, fd, wanted);
	return fd;
}

INTERPOSE(int, eventfd, (unsigned value, int flags))
{
	return rt_opened(REAL(eventfd)(value, flags));
}

INTERPOSE(int, epoll_create1, (int flags))
{
	return rt_opened(REAL(epoll_create1)(flags));
}
