// SPDX-License-Identifier: Apache-2.0
/*
 * Prepares a recorded run: makes room for its trace and fills in the first meta.json.  Nothing but
 * an old trace is ever moved or removed.
 */
#include "record/prepare.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum directory_state { DIRECTORY_FREE, DIRECTORY_TRACE, DIRECTORY_OTHER };

static enum directory_state look_at(const char *path);

/* Returns true if the document is empty or was written by Raddle.  Documents of other programs do
 * not state a Raddle version. */
static bool wrote_document(const char *path)
{
	char start[4096];
	size_t n = rd_file_head(path, start, sizeof start - 1);

	start[n] = '\0';
	return n ? strstr(start, "\"raddle\"") != NULL : rd_file_exists(path);
}

/* Returns true if the file is empty or begins with one of the magic numbers.  An empty file has no
 * content to lose. */
static bool begins_with(const char *path, const char *const *magics)
{
	struct stat st;
	char start[8];

	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && !st.st_size)
		return true;
	if (rd_file_head(path, start, sizeof start) != sizeof start)
		return false;
	while (*magics && memcmp(start, *magics, sizeof start) != 0)
		magics++;
	return *magics != NULL;
}

static bool has_our_meta(const char *directory)
{
	char *path = rd_xasprintf("%s/meta.json", directory);
	bool has = wrote_document(path);

	free(path);
	return has;
}

static bool is_numbered(const char *name, const char *prefix)
{
	size_t length = strlen(prefix);

	return !strncmp(name, prefix, length) && name[length] &&
	       !name[length + strspn(name + length, "0123456789")];
}

/* Returns true if an entry with this name belongs to a trace and has the right content.  If the
 * directory has a meta.json of ours (`known`), damaged streams are accepted too. */
static bool is_of_a_trace(const char *directory, const char *name, bool known)
{
	static const char *const streams[] = {"RDSTREAM", "RDFULLTR", NULL};
	static const char *const worlds[] = {"RDWORLDS", NULL};
	static const char *const sites[] = {"raddle-s", NULL};
	char *path;
	bool ours;

	if (!strcmp(name, RD_CLAIM_FILE))
		return true;
	path = rd_xasprintf("%s/%s", directory, name);
	ours = (is_numbered(name, "thread-") && (known || begins_with(path, streams))) ||
	       (!strcmp(name, "sites") && (known || begins_with(path, sites))) ||
	       (!strcmp(name, "meta.json") && wrote_document(path)) ||
	       (!strcmp(name, "world") && begins_with(path, worlds)) ||
	       (is_numbered(name, "fork-") && look_at(path) != DIRECTORY_OTHER);
	free(path);
	return ours;
}

/* Examines what is at the path.  A directory counts as a trace only if it contains nothing but the
 * files of a trace.  Only such a directory is ever moved or removed. */
static enum directory_state look_at(const char *path)
{
	bool empty = true, other = false, known = has_our_meta(path);
	struct dirent *entry;
	struct stat st;
	DIR *d;

	if (lstat(path, &st))
		return DIRECTORY_FREE;
	d = opendir(path);
	if (!d)
		return DIRECTORY_OTHER;
	while (!other && (entry = readdir(d))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    !strcmp(entry->d_name, RD_CLAIM_FILE))
			continue;
		empty = false;
		other = !is_of_a_trace(path, entry->d_name, known);
	}
	closedir(d);
	return other ? DIRECTORY_OTHER : empty ? DIRECTORY_FREE : DIRECTORY_TRACE;
}

/* Moves the entries of a trace to `old`, or removes them if `old` is NULL.  The lock file stays. */
static int move_entries(const char *path, const char *old)
{
	bool known = has_our_meta(path);
	DIR *d = opendir(path);
	struct dirent *entry;
	int r = d ? 0 : rd_fail_errno("cannot read %s", path);

	while (!r && (entry = readdir(d))) {
		char *from, *to;

		if (!strcmp(entry->d_name, RD_CLAIM_FILE) || !is_of_a_trace(path, entry->d_name, known))
			continue;
		from = rd_xasprintf("%s/%s", path, entry->d_name);
		to = rd_xasprintf("%s/%s", old ? old : "", entry->d_name);
		if (!old)
			r = rd_remove_tree(from);
		else if (rename(from, to))
			r = rd_fail_errno("cannot rename %s to %s", from, to);
		free(from);
		free(to);
	}
	if (d)
		closedir(d);
	return r;
}

static int keep_old(const char *path)
{
	char *old = rd_xasprintf("%.*s.old", (int)(strlen(path) - (path[strlen(path) - 1] == '/')), path);
	enum directory_state state = look_at(old);
	int r = 0;

	if (state == DIRECTORY_OTHER)
		r = rd_fail(RD_EUSAGE, "cannot rename the old trace to %s, which exists and is not a trace",
			    old);
	else if (state == DIRECTORY_TRACE)
		r = move_entries(old, NULL);
	if (!r)
		r = rd_mkdirs(old);
	if (!r)
		r = move_entries(path, old);
	free(old);
	return r;
}

int record_prepare_directory(const char *path, bool force)
{
	RD_ASSERT(path != NULL && *path);
	switch (look_at(path)) {
	case DIRECTORY_FREE: return 0;
	case DIRECTORY_TRACE: return force ? move_entries(path, NULL) : keep_old(path);
	default: return rd_fail(RD_EUSAGE, "%s: it exists and is not a trace; name another directory", path);
	}
}

int record_claim_directory(struct rd_claim *claim, const char *path, bool force, bool elsewhere)
{
	int r;

	if (look_at(path) == DIRECTORY_OTHER)
		return record_prepare_directory(path, force);
	r = rd_claim(claim, path, elsewhere);
	if (!r && (r = record_prepare_directory(claim->path, force)))
		rd_claim_release(claim);
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
