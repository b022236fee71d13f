// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps a table of the open temporary directories, for the handler of fatal signals.
 * rd_remove_tree() is not safe in a signal handler.  So the handler runs rm(1) with vfork() and
 * execve(), which are safe.  An entry is valid only in the process that created it.  A forked
 * process has copies of the table and the handlers, and must leave the directories alone.
 */
#include "base/scratch.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	/* The process that created the directory, or 0 if the entry is free.  This member is set
	 * last. */
	volatile pid_t owner;
	char path[PATH_MAX];
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

int rd_scratch_open(char **path, const char *parent, const char *name)
{
	size_t i = find_free();
	int length;

	if (!parent)
		parent = rd_tmp_dir();
	table[i].owner = 0;
	length = snprintf(table[i].path, PATH_MAX, "%s/%s-XXXXXX", parent, name);
	if (length >= PATH_MAX)
		return rd_fail(RD_ELIMIT, "%s: its name is too long for a directory in it", parent);
	take_signals();
	if (!mkdtemp(table[i].path)) {
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
			table[i].owner = 0;
			give_signals_back();
		}
	free(path);
}
