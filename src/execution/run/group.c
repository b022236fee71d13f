// SPDX-License-Identifier: Apache-2.0
/*
 * Control groups with the controller `pids`.  From our own group (/proc/self/cgroup) and the usual
 * mount points of the hierarchies, this code finds where to create a new directory with a limit.
 * In version 1 of control groups, the controller has a hierarchy of its own.  In version 2, a new
 * group has the controller only if its parent enables it.  If anything is missing, no group is
 * created.
 */
#include "run/group.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOUNTS "/sys/fs/cgroup"
#define NAMES 1000 /* number of directory names that are tried for one process */
/* To empty a group, its processes are killed repeatedly, for at most a second in all.  Chosen by
 * hand: the kernel needs a few milliseconds to end a process, and a process that cannot end must
 * not delay Raddle. */
#define CLEAR_ROUNDS 200
#define CLEAR_PAUSE_NS 5000000 /* nanoseconds between two rounds */

/* Returns the path of our own group, taken from the line "N:pids:PATH" or "0::PATH", or NULL if it
 * is unknown. */
static char *own_group(void)
{
	struct rd_buf text = RD_BUF_INIT;
	char *found = NULL, *save = NULL;

	if (rd_file_read("/proc/self/cgroup", &text) == 0) {
		rd_buf_add(&text, "", 1);
		for (char *line = strtok_r((char *)text.data, "\n", &save); line && !found;
		     line = strtok_r(NULL, "\n", &save)) {
			char *first = strstr(line, ":pids:"), *second = strncmp(line, "0::", 3) ? NULL : line;

			if (first && !access(MOUNTS "/pids", F_OK))
				found = rd_xasprintf(MOUNTS "/pids%s", first + 6);
			else if (second && !access(MOUNTS "/cgroup.controllers", F_OK))
				found = rd_xasprintf(MOUNTS "%s", second + 3);
		}
	}
	rd_buf_release(&text);
	return found;
}

static bool set_limit(const char *path, uint64_t processes)
{
	char *file = rd_xasprintf("%s/pids.max", path), text[24];
	int fd = open(file, O_WRONLY | O_CLOEXEC), n = snprintf(text, sizeof text, "%" PRIu64, processes);
	bool set = fd >= 0 && write(fd, text, (size_t)n) == n;

	if (fd >= 0)
		close(fd);
	free(file);
	return set;
}

/* Removes groups that were left behind by Raddle processes that were killed. */
static void remove_old(const char *above)
{
	DIR *d = opendir(above);
	const struct dirent *e;
	char *path;
	int pid;

	while (d && (e = readdir(d))) {
		if (sscanf(e->d_name, "raddle-%d-", &pid) != 1 || kill(pid, 0) == 0 || errno != ESRCH)
			continue;
		path = rd_xasprintf("%s/%s", above, e->d_name);
		rmdir(path);
		free(path);
	}
	if (d)
		closedir(d);
}

/* Makes a new directory below `above`.  Returns NULL if that is not permitted. */
static char *make_below(const char *above)
{
	for (unsigned i = 0; i < NAMES; i++) {
		char *path = rd_xasprintf("%s/raddle-%d-%u", above, (int)getpid(), i);

		if (mkdir(path, 0755) == 0)
			return path;
		free(path);
		if (errno != EEXIST)
			return NULL;
	}
	return NULL;
}

bool run_group_open(struct run_group *group, uint64_t processes)
{
	RD_ASSERT(processes > 0);
	char *above = own_group(), *procs;

	*group = (struct run_group){0};
	if (!above)
		return false;
	remove_old(above);
	group->path = make_below(above);
	free(above);
	if (!group->path)
		return false;
	procs = rd_xasprintf("%s/cgroup.procs", group->path);
	if (set_limit(group->path, processes))
		group->procs = open(procs, O_WRONLY | O_CLOEXEC) + 1;
	free(procs);
	if (group->procs)
		return true;
	rmdir(group->path);
	free(group->path);
	*group = (struct run_group){0};
	return false;
}

/* Kills all processes of the group.  Returns how many processes it found there. */
static size_t kill_all(const char *path)
{
	char *file = rd_xasprintf("%s/cgroup.procs", path);
	FILE *f = fopen(file, "re");
	size_t count = 0;
	int pid;

	while (f && fscanf(f, "%d", &pid) == 1) {
		kill(pid, SIGKILL);
		count++;
	}
	if (f)
		fclose(f);
	free(file);
	return count;
}

void run_group_clear(const struct run_group *group)
{
	const struct timespec pause = {0, CLEAR_PAUSE_NS};

	if (!group->procs)
		return;
	/* Dead processes are listed until they are reaped.  The number of rounds is limited
	 * because a program may fork faster than it is killed. */
	for (int i = 0; i < CLEAR_ROUNDS && kill_all(group->path); i++)
		nanosleep(&pause, NULL);
}

void run_group_close(struct run_group *group)
{
	if (!group->procs)
		return;
	run_group_clear(group);
	close(group->procs - 1);
	rmdir(group->path);
	free(group->path);
	*group = (struct run_group){0};
}

static uint64_t threads_of(const char *process, uid_t user)
{
	char *directory = rd_xasprintf("/proc/%s/task", process);
	struct stat st;
	bool own = stat(directory, &st) == 0 && st.st_uid == user;

	free(directory);
	/* A directory of n threads has n + 2 links. */
	return own && st.st_nlink > 2 ? st.st_nlink - 2 : 0;
}

uint64_t run_group_rest(uint64_t processes)
{
	DIR *d = getuid() ? opendir("/proc") : NULL;
	const struct dirent *e;
	uint64_t count = processes;

	if (!d)
		return 0;
	while ((e = readdir(d)))
		if (e->d_name[0] > '0' && e->d_name[0] <= '9')
			count += threads_of(e->d_name, getuid());
	closedir(d);
	return count;
}
