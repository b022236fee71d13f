// SPDX-License-Identifier: Apache-2.0
/*
 * Checks that the files and directories that a command's options name can be written.  In: a table
 * with its values.  Out: nothing, or one message.  Nothing is created, and nothing is opened for
 * writing: opening a FIFO would wait for a reader, and a command that fails later should not leave
 * an empty file.
 */
#include "base/option.h"

#include "base/error.h"
#include "base/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the directory that contains or will contain `path`. */
static const char *parent_of(const char *path, char out[PATH_MAX])
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return ".";
	snprintf(out, PATH_MAX, "%.*s", (int)(slash == path ? 1 : slash - path), path);
	return out;
}

/* Rejects names such as "-q", which are probably misplaced options. */
static int check_name(const struct rd_option *o, const char *path, const char *command)
{
	if (!*path)
		return rd_fail(RD_EUSAGE, "%s: --%s: the name is empty", command, o->name);
	if (path[0] == '-' && path[1])
		return rd_fail(RD_EUSAGE, "%s: --%s %s: that looks like an option; ./%s is a file", command,
			       o->name, path, path);
	if (strlen(path) >= PATH_MAX)
		return rd_fail(RD_EUSAGE, "%s: --%s: the name is too long", command, o->name);
	return RD_OK;
}

static bool is_program(const char *path)
{
	char head[4];
	size_t n = rd_file_head(path, head, sizeof head);

	return (n == 4 && !memcmp(head, "\177ELF", 4)) || (n >= 2 && !memcmp(head, "#!", 2));
}

/* Checks an output file.  Refuses to overwrite an executable program, because the user probably
 * meant it as an operand. */
static int check_file(const struct rd_option *o, const char *path, const char *command)
{
	char parent[PATH_MAX];
	struct stat st;

	if (stat(path, &st)) {
		if (errno != ENOENT || access(parent_of(path, parent), W_OK | X_OK))
			return rd_fail_errno("%s: --%s: cannot write %s", command, o->name, path);
		return RD_OK;
	}
	if (S_ISDIR(st.st_mode))
		return rd_fail(RD_EUSAGE, "%s: --%s: cannot write %s: it is a directory", command, o->name,
			       path);
	if (S_ISREG(st.st_mode) && st.st_mode & 0111 && is_program(path))
		return rd_fail(RD_EUSAGE, "%s: --%s: %s is a program and is not overwritten", command,
			       o->name, path);
	if (access(path, W_OK))
		return rd_fail_errno("%s: --%s: cannot write %s", command, o->name, path);
	return RD_OK;
}

/* Checks an output directory.  Missing parent directories are created later. */
static int check_directory(const struct rd_option *o, const char *path, const char *command)
{
	char above[2][PATH_MAX];
	const char *there = path;
	struct stat st;

	for (int i = 0; stat(there, &st); i = !i) {
		if (errno != ENOENT || (there[0] == '/' && !there[1]))
			return rd_fail_errno("%s: --%s: %s: cannot write there", command, o->name, path);
		there = parent_of(there, above[i]);
	}
	if (!S_ISDIR(st.st_mode))
		return rd_fail(RD_EUSAGE, "%s: --%s: %s: %s is not a directory", command, o->name, path,
			       there);
	if (access(there, W_OK | X_OK))
		return rd_fail_errno("%s: --%s: %s: cannot write there", command, o->name, path);
	return RD_OK;
}

int rd_options_check(const struct rd_option *options, const char *command)
{
	const char *printed = NULL;
	int err = RD_OK;

	for (const struct rd_option *o = options; o->type != RD_OPT_END && !err; o++) {
		const char *path =
			o->traits & (RD_OPT_WRITES | RD_OPT_MAKES) ? *(const char **)o->value : NULL;
		bool to_stdout = path && o->traits & RD_OPT_WRITES && !strcmp(path, "-");

		if (!path)
			continue;
		if (to_stdout && printed)
			return rd_fail(
				RD_EUSAGE,
				"%s: only one document can go to standard output, not those of --%s and --%s",
				command, printed, o->name);
		if (to_stdout) {
			printed = o->name;
			continue;
		}
		err = check_name(o, path, command);
		if (!err)
			err = (o->traits & RD_OPT_WRITES ? check_file : check_directory)(o, path, command);
	}
	return err;
}
