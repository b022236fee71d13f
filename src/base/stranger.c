// SPDX-License-Identifier: Apache-2.0
/*
 * Warns about documents that another user may have written.  `replay` and `classify` run the
 * program that a document names, with the stored command.  `inject --resume` runs the program of a
 * campaign in the same way.  Users want this for their own documents.  If another user can have
 * written the document, a warning first shows what will be run.
 */
#include "base/stranger.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/outside.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Returns the reason why another user could have replaced the file through its directory, or NULL
 * if no other user could.  In a directory with the sticky bit, other users cannot replace the
 * file. */
static const char *stranger_above(const char *path)
{
	const char *slash = strrchr(path, '/'), *who;
	char *directory =
		slash ? rd_xstrndup(path, slash == path ? 1 : (size_t)(slash - path)) : rd_xstrdup(".");
	struct stat st;

	who = stat(directory, &st) || st.st_mode & S_ISVTX ? NULL : rd_untrusted_reason(&st);
	free(directory);
	return who;
}

static void add_command(struct rd_buf *out, const char *name, const char *command)
{
	if (!command)
		return;
	rd_buf_addf(out, ", %s ", name);
	rd_buf_add_shell(out, command);
}

void rd_stranger_warn(const char *path, const struct rd_stranger *what)
{
	struct rd_buf words = RD_BUF_INIT;
	const char *who = NULL, *where = NULL;
	struct stat st;

	if (stat(path, &st) == 0)
		who = rd_untrusted_reason(&st);
	if (!who)
		where = stranger_above(path);
	for (size_t i = 0; i < what->argc; i++) {
		rd_buf_adds(&words, i ? " " : "");
		rd_buf_add_shell(&words, what->argv[i]);
	}
	add_command(&words, "with", what->with);
	add_command(&words, "before each run", what->setup);
	add_command(&words, "filtered by", what->filter);
	add_command(&words, "with plug-ins", what->plugins);
	if (who || where)
		rd_warn("%s: %s %s; it makes Raddle run: %s", path, who ? "it" : "its directory",
			who ? who : where, words.data);
	rd_buf_release(&words);
}
