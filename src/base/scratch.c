// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps a table of the open temporary directories, for the handler of fatal signals.
 * rd_remove_tree() is not safe in a signal handler.  So the handler runs rm(1) with vfork() and
 * execve(), which are safe.  An entry is valid only in the process that created it.  A forked
 * process has copies of the table and the handlers, and must leave the directories alone.
 *
 * A directory below rd_tmp_dir() is locked with flock() as long as the process that created it, or
 * a process forked from that one, is alive.  If SIGKILL ends these processes, the directory is
 * removed when another process opens a directory of the same name.
 */
#include "base/scratch.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLANKS "XXXXXX" /* replaced by mkdtemp() */
#define MARK "-tmp-"	/* what the names of directories have that leftovers are looked for among */
#define TRIES 8		/* how often a new directory is made; chosen by hand, the second one works */

static struct {
	/* The process that created the directory, or 0 if the entry is free.  This member is set
	 * last. */
	volatile pid_t owner;
	char path[PATH_MAX];
	int lock; /* its descriptor, which is locked; -1 if it has none */
} table[RD_SCRATCH_MAX];

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static void remove_in_handler(const char *path)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execl("/bin/rm", "rm", "-rf", "--", path, (char *)NULL);
		_exit(127);
	}
	if (pid > 0)
		rd_reap(pid, NULL);
}

/* Removes the directories of this process.  The signal is blocked until this returns, and then ends
 * the process. */
static void clean_up(int number)
{
	for (size_t i = 0; i < RD_SCRATCH_MAX; i++)
		if (table[i].owner == getpid())
			remove_in_handler(table[i].path);
	signal(number, SIG_DFL);
	raise(number);
}

/* Installs the handlers.  Signals that are ignored or have another handler are left alone. */
static void take_signals(void)
{
	struct sigaction now, action = {.sa_handler = clean_up};

	for (size_t i = 0; i < SIGNALS; i++)
		sigaddset(&action.sa_mask, signals[i]);
	for (size_t i = 0; i < SIGNALS; i++)
		if (!sigaction(signals[i], NULL, &now) && !(now.sa_flags & SA_SIGINFO) &&
		    now.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
}

static void give_signals_back(void)
{
	struct sigaction now;

	for (size_t i = 0; i < RD_SCRATCH_MAX; i++)
		if (table[i].owner == getpid())
			return;
	for (size_t i = 0; i < SIGNALS; i++)
		if (!sigaction(signals[i], NULL, &now) && !(now.sa_flags & SA_SIGINFO) &&
		    now.sa_handler == clean_up)
			signal(signals[i], SIG_DFL);
}

/* Returns the index of a free entry.  Entries of a parent process are treated as free. */
static size_t find_free(void)
{
	size_t i = 0;

	while (i < RD_SCRATCH_MAX && table[i].owner == getpid())
		i++;
	RD_ASSERT(i < RD_SCRATCH_MAX);
	return i;
}

/* Locks a directory of this user.  Returns a descriptor, or -1 if another process has locked the
 * directory or if it does not exist. */
static int lock_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat opened, there;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &opened) && opened.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB) &&
	    !lstat(path, &there) && there.st_ino == opened.st_ino)
		return fd;
	close(fd);
	return -1;
}

/* Removes directories of this name whose processes have died. */
static void remove_leftovers(const char *parent, const char *name)
{
	char *prefix = rd_xasprintf("%s" MARK, name);
	size_t length = strlen(prefix);
	const struct dirent *e;
	DIR *d = opendir(parent);

	while (d && (e = readdir(d))) {
		char *path = rd_xasprintf("%s/%s", parent, e->d_name);
		bool ours =
			!strncmp(e->d_name, prefix, length) && strlen(e->d_name) == length + strlen(BLANKS);
		int fd = ours ? lock_directory(path) : -1;

		if (fd >= 0) {
			rd_remove_tree(path);
			close(fd);
		}
		free(path);
	}
	if (d)
		closedir(d);
	free(prefix);
}

/* Makes the directory of an entry.  Before it is locked, a process that removes leftovers may
 * mistake it for one of them and remove it.  If so, another directory is made. */
static bool make_directory(size_t i, bool locks)
{
	char *blanks = table[i].path + strlen(table[i].path) - strlen(BLANKS);

	table[i].lock = -1;
	for (int tries = 0; tries < TRIES; tries++) {
		memcpy(blanks, BLANKS, strlen(BLANKS));
		if (!mkdtemp(table[i].path))
			return false;
		table[i].lock = locks ? lock_directory(table[i].path) : -1;
		if (!locks || table[i].lock >= 0)
			return true;
	}
	return access(table[i].path, F_OK) == 0; /* it cannot be locked here, so nothing removes it */
}

int rd_scratch_open(char **path, const char *parent, const char *name)
{
	size_t i = find_free();
	const char *mark = parent ? "-" : MARK;
	int length;

	table[i].owner = 0;
	length = snprintf(table[i].path, PATH_MAX, "%s/%s%s" BLANKS, parent ? parent : rd_tmp_dir(), name,
			  mark);
	if (length >= PATH_MAX)
		return rd_fail(RD_ELIMIT, "%s: its name is too long for a directory in it",
			       parent ? parent : rd_tmp_dir());
	if (!parent)
		remove_leftovers(rd_tmp_dir(), name);
	take_signals();
	if (!make_directory(i, !parent)) {
		int err = rd_fail_errno("cannot create %s", table[i].path);
		give_signals_back();
		return err;
	}
	table[i].owner = getpid();
	*path = rd_xstrdup(table[i].path);
	return RD_OK;
}

void rd_scratch_close(char *path)
{
	for (size_t i = 0; path && i < RD_SCRATCH_MAX; i++)
		if (table[i].owner == getpid() && !strcmp(table[i].path, path)) {
			rd_remove_tree(path);
			if (table[i].lock >= 0)
				close(table[i].lock);
			table[i].owner = 0;
			give_signals_back();
		}
	free(path);
}
