// SPDX-License-Identifier: Apache-2.0
/*
 * Before a recorded run: the way is cleared for its trace, and the first meta.json is
 * filled.  An old trace is moved away, nothing else is ever touched.
 */
#include "record/prepare.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum directory_state { DIRECTORY_FREE, DIRECTORY_TRACE, DIRECTORY_OTHER };

static enum directory_state look_at(const char *path)
{
	bool empty = true, trace = false;
	struct dirent *entry;
	struct stat st;
	DIR *d;

	if (lstat(path, &st))
		return DIRECTORY_FREE;
	d = opendir(path);
	if (!d)
		return DIRECTORY_OTHER;
	while ((entry = readdir(d))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		empty = false;
		if (!strcmp(entry->d_name, "meta.json") || !strcmp(entry->d_name, "thread-0"))
			trace = true;
	}
	closedir(d);
	return empty ? DIRECTORY_FREE : trace ? DIRECTORY_TRACE : DIRECTORY_OTHER;
}

int record_prepare_directory(const char *path, bool force)
{
	enum directory_state state = look_at(path);
	char *old;
	int r = 0;

	if (state == DIRECTORY_FREE)
		return 0;
	if (state == DIRECTORY_OTHER)
		return rd_fail(RD_EUSAGE, "%s: it is there and is no trace; name another directory", path);
	if (force)
		return rd_remove_tree(path);
	old = rd_xasprintf("%.*s.old", (int)(strlen(path) - (path[strlen(path) - 1] == '/')), path);
	if (look_at(old) == DIRECTORY_OTHER)
		r = rd_fail(RD_EUSAGE, "%s: it is in the way of the old trace and is no trace", old);
	if (!r)
		r = rd_remove_tree(old);
	if (!r && rename(path, old))
		r = rd_fail_errno("%s: cannot rename it to %s", path, old);
	free(old);
	return r;
}

static char *copy(const char *text)
{
	return text ? rd_xstrdup(text) : NULL;
}

void record_prepare_meta(struct trace_meta *meta, const struct run_program *program, char **argv)
{
	struct timespec now;
	struct utsname machine;
	char start[TRACE_TIME_SIZE];

	clock_gettime(CLOCK_REALTIME, &now);
	trace_meta_time(start, now.tv_sec * 1000000000ll + now.tv_nsec);
	meta->start = rd_xstrdup(start);
	clock_gettime(CLOCK_MONOTONIC, &now);
	meta->start_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	meta->program = rd_xstrdup(program->path);
	meta->flavour = rd_xstrdup(run_program_kind(program));
	meta->mode = copy(program->mode);
	meta->key = copy(program->flavour.key);
	while (argv[meta->argc])
		meta->argc++;
	meta->argv = argv;
	meta->cwd = getcwd(NULL, 0);
	if (!uname(&machine))
		meta->kernel = rd_xasprintf("%s %s %s", machine.sysname, machine.release, machine.machine);
	meta->cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
}

void record_release_meta(struct trace_meta *meta)
{
	meta->argv = NULL;
	meta->argc = 0;
	trace_meta_release(meta);
}
