// SPDX-License-Identifier: Apache-2.0
/*
 * Records how threads communicate through the file system and through other processes.  In: calls
 * of functions that change or inspect what is at a path, start a process or wait for one.  Out: the
 * events `outside-tell` and `outside-hear`.
 *
 * A thread that waits until a file appears or disappears is ordered after the thread that created
 * or removed the file.  No other event shows that.
 */
#include "rt/core/io/channel.h"
#include "rt/core/io/retry.h"
#include "rt/core/layer.h"
#include "rt/core/real.h"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

void rt_member_path(void);
void rt_member_path(void)
{
}

void rt_path_tells(void)
{
	rt.changed_outside = true;
	rt_channel_send(0);
}

void rt_path_hears(void)
{
	rt_channel_receive(0);
}

/* Unless `r` is an error, notifies layers that the file at this path was written.  Returns `r`. */
static int written(int at, const char *path, int r)
{
	int saved = errno, fd;

	if (r < 0 || !rt.callbacks.writes)
		return r;
	fd = (int)syscall(SYS_openat, at, path, O_PATH | O_CLOEXEC);
	if (fd >= 0) {
		RT_NOTIFY(writes, fd, false);
		syscall(SYS_close, fd);
	}
	errno = saved;
	return r;
}

/* Defines a function that changes what is at a path.  Its result also shows whether the name
 * existed, so the thread notices earlier changes too.  `then` is the
 * value that it returns; r is the result of the real function. */
#define CHANGES_THEN(name, parameters, arguments, then)                                                      \
	INTERPOSE(int, name, parameters)                                                                     \
	{                                                                                                    \
		int r;                                                                                       \
		rt_path_tells();                                                                             \
		r = REAL(name) arguments;                                                                    \
		rt_path_hears();                                                                             \
		return then;                                                                                 \
	}
#define CHANGES(name, parameters, arguments) CHANGES_THEN(name, parameters, arguments, r)
/* Does the same for a function that gives a file the name `path`, or changes its content. */
#define WRITES(name, parameters, arguments, at, path)                                                        \
	CHANGES_THEN(name, parameters, arguments, written(at, path, r))

#define HEARS(type, name, parameters, arguments)                                                             \
	INTERPOSE(type, name, parameters)                                                                    \
	{                                                                                                    \
		type r = REAL(name) arguments;                                                               \
		rt_path_hears();                                                                             \
		return r;                                                                                    \
	}

CHANGES(unlink, (const char *path), (path))
CHANGES(unlinkat, (int at, const char *path, int flags), (at, path, flags))
CHANGES(remove, (const char *path), (path))
CHANGES(rmdir, (const char *path), (path))
CHANGES(mkdir, (const char *path, mode_t mode), (path, mode))
CHANGES(mkdirat, (int at, const char *path, mode_t mode), (at, path, mode))
CHANGES(mkfifo, (const char *path, mode_t mode), (path, mode))
WRITES(rename, (const char *from, const char *to), (from, to), AT_FDCWD, to)
WRITES(renameat, (int at, const char *from, int to_at, const char *to), (at, from, to_at, to), to_at, to)
WRITES(renameat2, (int at, const char *from, int to_at, const char *to, unsigned flags),
       (at, from, to_at, to, flags), to_at, to)
WRITES(link, (const char *from, const char *to), (from, to), AT_FDCWD, to)
WRITES(linkat, (int at, const char *from, int to_at, const char *to, int flags), (at, from, to_at, to, flags),
       to_at, to)
CHANGES(symlink, (const char *text, const char *path), (text, path))
CHANGES(symlinkat, (const char *text, int at, const char *path), (text, at, path))
WRITES(truncate, (const char *path, off_t size), (path, size), AT_FDCWD, path)
CHANGES(ftruncate, (int fd, off_t size), (fd, size))
/* Defines a function that starts another program. */
#define STARTS(name, parameters, arguments)                                                                  \
	INTERPOSE(int, name, parameters)                                                                     \
	{                                                                                                    \
		int r;                                                                                       \
		rt_trap_leaves();                                                                            \
		rt_path_tells();                                                                             \
		r = REAL(name) arguments;                                                                    \
		rt_path_hears();                                                                             \
		return r;                                                                                    \
	}

STARTS(system, (const char *command), (command))
STARTS(posix_spawn,
       (pid_t *restrict pid, const char *restrict path, const posix_spawn_file_actions_t *restrict actions,
	const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
	char *const environment[restrict]),
       (pid, path, actions, attributes, argv, environment))
STARTS(posix_spawnp,
       (pid_t *restrict pid, const char *restrict path, const posix_spawn_file_actions_t *restrict actions,
	const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
	char *const environment[restrict]),
       (pid, path, actions, attributes, argv, environment))

INTERPOSE(FILE *, popen, (const char *command, const char *mode))
{
	rt_trap_leaves();
	rt_path_tells();
	return REAL(popen)(command, mode);
}

HEARS(int, pclose, (FILE * stream), (stream))
HEARS(int, stat, (const char *restrict path, struct stat *restrict to), (path, to))
HEARS(int, lstat, (const char *restrict path, struct stat *restrict to), (path, to))
HEARS(int, fstat, (int fd, struct stat *to), (fd, to))
HEARS(int, fstatat, (int at, const char *restrict path, struct stat *restrict to, int flags),
      (at, path, to, flags))
HEARS(int, stat64, (const char *restrict path, struct stat64 *restrict to), (path, to))
HEARS(int, lstat64, (const char *restrict path, struct stat64 *restrict to), (path, to))
HEARS(int, fstat64, (int fd, struct stat64 *to), (fd, to))
HEARS(int, fstatat64, (int at, const char *restrict path, struct stat64 *restrict to, int flags),
      (at, path, to, flags))
HEARS(int, statx, (int at, const char *restrict path, int flags, unsigned mask, struct statx *restrict to),
      (at, path, flags, mask, to))
HEARS(int, access, (const char *path, int how), (path, how))
HEARS(int, faccessat, (int at, const char *path, int how, int flags), (at, path, how, flags))
HEARS(DIR *, opendir, (const char *path), (path))
HEARS(struct dirent *, readdir, (DIR * directory), (directory))
HEARS(struct dirent64 *, readdir64, (DIR * directory), (directory))

/* Waits for a child process if a layer performs the wait.  Returns false if the system must
 * wait. */
static bool waits(pid_t pid, int *status, int options, struct rusage *usage, pid_t *child)
{
	struct rt_retry call = {SYS_wait4, {pid, (long)status, options | WNOHANG, (long)usage}, 0};
	long result;

	if (options & WNOHANG || !rt_retries(&call, -1, &result))
		return false;
	*child = (pid_t)result;
	return true;
}

#define WAITS(name, parameters, pid, status, options, usage, arguments)                                      \
	INTERPOSE(pid_t, name, parameters)                                                                   \
	{                                                                                                    \
		pid_t r;                                                                                     \
		if (!waits(pid, status, options, usage, &r))                                                 \
			r = REAL(name) arguments;                                                            \
		rt_path_hears();                                                                             \
		return r;                                                                                    \
	}

WAITS(wait, (int *status), -1, status, 0, NULL, (status))
WAITS(waitpid, (pid_t pid, int *status, int options), pid, status, options, NULL, (pid, status, options))
WAITS(wait3, (int *status, int options, struct rusage *usage), -1, status, options, usage,
      (status, options, usage))
WAITS(wait4, (pid_t pid, int *status, int options, struct rusage *usage), pid, status, options, usage,
      (pid, status, options, usage))
HEARS(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options), (type, id, info, options))
