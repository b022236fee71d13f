// SPDX-License-Identifier: Apache-2.0
/*
 * Runs with another input (run/override.h).
 */
#include "run/override.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *own(struct run_override *r, char *text)
{
	RD_GROW(r->owned, r->owned_capacity, r->owned_count + 1);
	return r->owned[r->owned_count++] = text;
}

/* ---- arguments ---- */

static void copy_arguments(struct run_override *r, char *const *argv)
{
	size_t n = 0;

	while (argv[n])
		n++;
	r->argv = rd_xcalloc(n + 1, sizeof *r->argv);
	for (size_t i = 0; i < n; i++)
		r->argv[i] = argv[i];
	for (size_t i = 0; i < r->given.count; i++) {
		const struct rd_override_part *p = &r->given.parts[i];

		if (p->kind == RD_OVERRIDE_ARGV && p->number < n)
			r->argv[p->number] = own(r, rd_xstrdup(p->data));
	}
}

/* ---- files ---- */

static bool is_there(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

/* Creates a link in `to` for every entry of `from` that `to` does not have yet. */
static int link_all(const char *from, const char *to)
{
	DIR *d = opendir(from);
	struct dirent *e;
	int err = RD_OK;

	if (!d)
		return rd_fail_errno("cannot read the directory %s", from);
	while (!err && (e = readdir(d))) {
		char *target, *link;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		target = rd_xasprintf("%s/%s", from, e->d_name);
		link = rd_xasprintf("%s/%s", to, e->d_name);
		if (!is_there(link) && symlink(target, link))
			err = rd_fail_errno("cannot create the link %s", link);
		RD_FREE(target, link);
	}
	closedir(d);
	return err;
}

/* Makes `to` a directory of links to the entries of `from`.  Before this, `to` may be a link to
 * `from` or may not exist. */
static int open_up(const char *from, const char *to)
{
	struct stat st;
	int err = RD_OK;

	if (!lstat(to, &st) && S_ISDIR(st.st_mode))
		return RD_OK;
	if (is_there(to) && unlink(to))
		return rd_fail_errno("cannot remove %s", to);
	err = rd_mkdirs(to);
	return err ? err : link_all(from, to);
}

/* Replaces a file below the working directory. */
static int replace_below(struct run_override *r, const char *cwd, const struct rd_override_part *p)
{
	char *at = rd_xasprintf("%s/%s", r->directory, p->name), *from = rd_xasprintf("%s/%s", cwd, p->name);
	size_t to_root = strlen(r->directory), from_root = strlen(cwd);
	int err = RD_OK;

	for (char *slash = at + to_root + 1, *end; !err && (end = strchr(slash, '/')); slash = end + 1) {
		char *other = from + from_root + (end - (at + to_root));

		*end = *other = 0;
		err = open_up(from, at);
		*end = *other = '/';
	}
	if (!err && is_there(at) && unlink(at))
		err = rd_fail_errno("cannot remove %s", at);
	if (!err)
		err = rd_file_write(at, p->data, p->length);
	RD_FREE(at, from);
	return err;
}

/* Replaces a file outside the working directory.  This works only if an argument names the file. */
static int replace_named(struct run_override *r, const struct rd_override_part *p, size_t number)
{
	char *at = rd_xasprintf("%s/.given/%zu", r->directory, number), *directory;
	bool named = false;
	int err;

	directory = rd_xasprintf("%s/.given", r->directory);
	err = rd_mkdirs(directory);
	free(directory);
	for (size_t i = 1; r->argv[i]; i++)
		if (!strcmp(r->argv[i], p->name)) {
			r->argv[i] = own(r, rd_xstrdup(at));
			named = true;
		}
	if (!named)
		err = rd_fail(
			RD_ENOTFOUND,
			"%s: only files below the working directory, and those that an argument names, can "
			"be replaced",
			p->name);
	if (!err)
		err = rd_file_write(at, p->data, p->length);
	free(at);
	return err;
}

static bool is_below(const char *path)
{
	return path[0] != '/' && strncmp(path, "../", 3) != 0 && !strstr(path, "/../");
}

static int replace_files(struct run_override *r, const char *scratch)
{
	char cwd[PATH_MAX];
	int err = RD_OK;

	if (!getcwd(cwd, sizeof cwd))
		return rd_fail_errno("cannot determine the working directory");
	for (size_t i = 0; i < r->given.count && !err; i++) {
		const struct rd_override_part *p = &r->given.parts[i];

		if (p->kind != RD_OVERRIDE_FILE)
			continue;
		if (!r->directory) {
			r->directory = rd_xasprintf("%s/cwd", scratch);
			err = open_up(cwd, r->directory);
		}
		if (!err)
			err = is_below(p->name) ? replace_below(r, cwd, p) : replace_named(r, p, i);
	}
	return err;
}

static int open_stdin(struct run_override *r, const char *scratch)
{
	const struct rd_override_part *p =
		rd_override_find(&r->given, &(struct rd_override_part){.kind = RD_OVERRIDE_STDIN});
	char *path = rd_xasprintf("%s/stdin", scratch);
	int err = p ? rd_file_write(path, p->data, p->length) : RD_OK;

	if (p && !err) {
		r->input = open(path, O_RDONLY | O_CLOEXEC);
		if (r->input < 0)
			err = rd_fail_errno("cannot open %s, the standard input of the run", path);
	}
	free(path);
	return err;
}

int run_override_open(struct run_override *r, const struct rd_override *given, char *const *argv,
		      const char *scratch)
{
	int err = given->count ? rd_mkdirs(scratch) : RD_OK;

	*r = (struct run_override){.input = -1};
	rd_override_copy(&r->given, given);
	r->saved = rd_xcalloc(given->count + 1, sizeof *r->saved);
	copy_arguments(r, argv);
	if (!err)
		err = replace_files(r, scratch);
	if (!err)
		err = open_stdin(r, scratch);
	return err;
}

void run_override_close(struct run_override *r)
{
	for (size_t i = 0; i < r->owned_count; i++)
		free(r->owned[i]);
	if (r->input > 0)
		close(r->input);
	if (r->directory)
		rd_remove_tree(r->directory);
	RD_FREE(r->argv, r->owned, r->directory, r->saved);
	rd_override_release(&r->given);
	*r = (struct run_override){.input = -1};
}

/* ---- variables ---- */

void run_override_enter(struct run_override *r)
{
	if (r->entered)
		return;
	r->entered = true;
	for (size_t i = 0; i < r->given.count; i++) {
		const struct rd_override_part *p = &r->given.parts[i];
		const char *old;

		if (p->kind != RD_OVERRIDE_ENV)
			continue;
		old = getenv(p->name);
		free(r->saved[i]);
		r->saved[i] = old ? rd_xstrdup(old) : NULL;
		setenv(p->name, p->data, 1);
	}
}

void run_override_leave(struct run_override *r)
{
	RD_ASSERT(!r->entered || r->saved);
	if (!r->entered)
		return;
	r->entered = false;
	for (size_t i = 0; i < r->given.count; i++) {
		const struct rd_override_part *p = &r->given.parts[i];

		if (p->kind != RD_OVERRIDE_ENV)
			continue;
		if (r->saved[i])
			setenv(p->name, r->saved[i], 1);
		else
			unsetenv(p->name);
		free(r->saved[i]);
		r->saved[i] = NULL;
	}
}
