// SPDX-License-Identifier: Apache-2.0
/*
 * What threads can tell each other by the names of files and by other processes.  In: functions that change
 * what is at a path, or start a process; functions that look there, or wait for one.  Out: the world outside
 * was told something, or was heard (`outside-tell`, `outside-hear`).
 *
 * A thread that waits until a file is there, or gone, comes after the one that made it or removed it, and no
 * other event says so.
 */
#include "rt/core/channel.h"
#include "rt/core/layer.h"
#include "rt/core/real.h"

#include <dirent.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

void rt_member_names(void);
void rt_member_names(void)
{
}

void rt_names_tell(void)
{
	rt_channel_send(0);
}

void rt_names_hear(void)
{
	rt_channel_receive(0);
}

/* The result says what is there: a name that is taken, or gone already. */
#define TELLS(name, parameters, arguments)                                                                   \
	INTERPOSE(int, name, parameters)                                                                     \
	{                                                                                                    \
		int r;                                                                                       \
		rt_names_tell();                                                                             \
		r = REAL(name) arguments;                                                                    \
		rt_names_hear();                                                                             \
		return r;                                                                                    \
	}

#define HEARS(type, name, parameters, arguments)                                                             \
	INTERPOSE(type, name, parameters)                                                                    \
	{                                                                                                    \
		type r = REAL(name) arguments;                                                               \
		rt_names_hear();                                                                             \
		return r;                                                                                    \
	}

TELLS(unlink, (const char *path), (path))
TELLS(unlinkat, (int at, const char *path, int flags), (at, path, flags))
TELLS(remove, (const char *path), (path))
TELLS(rmdir, (const char *path), (path))
TELLS(mkdir, (const char *path, mode_t mode), (path, mode))
TELLS(mkdirat, (int at, const char *path, mode_t mode), (at, path, mode))
TELLS(mkfifo, (const char *path, mode_t mode), (path, mode))
TELLS(rename, (const char *from, const char *to), (from, to))
TELLS(renameat, (int at, const char *from, int to_at, const char *to), (at, from, to_at, to))
TELLS(renameat2, (int at, const char *from, int to_at, const char *to, unsigned flags),
      (at, from, to_at, to, flags))
TELLS(link, (const char *from, const char *to), (from, to))
TELLS(linkat, (int at, const char *from, int to_at, const char *to, int flags), (at, from, to_at, to, flags))
TELLS(symlink, (const char *text, const char *path), (text, path))
TELLS(symlinkat, (const char *text, int at, const char *path), (text, at, path))
TELLS(truncate, (const char *path, off_t size), (path, size))
TELLS(ftruncate, (int fd, off_t size), (fd, size))
TELLS(system, (const char *command), (command))
TELLS(posix_spawn,
      (pid_t *restrict pid, const char *restrict path, const posix_spawn_file_actions_t *restrict actions,
       const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
       char *const environment[restrict]),
      (pid, path, actions, attributes, argv, environment))
TELLS(posix_spawnp,
      (pid_t *restrict pid, const char *restrict path, const posix_spawn_file_actions_t *restrict actions,
       const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
       char *const environment[restrict]),
      (pid, path, actions, attributes, argv, environment))

INTERPOSE(FILE *, popen, (const char *command, const char *mode))
{
	rt_names_tell();
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
HEARS(pid_t, wait, (int *status), (status))
HEARS(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options))
HEARS(pid_t, wait3, (int *status, int options, struct rusage *usage), (status, options, usage))
HEARS(pid_t, wait4, (pid_t pid, int *status, int options, struct rusage *usage),
      (pid, status, options, usage))
HEARS(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options), (type, id, info, options))
