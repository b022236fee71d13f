/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Temporary directories.  Each is removed with its content when it is closed.  It is also removed
 * if SIGINT, SIGTERM, SIGHUP or SIGQUIT ends the process that created it, unless the process
 * handles that signal.  Only SIGKILL and a bug in Raddle leave one on the disk.  If it has no
 * `parent`, the next process that opens a directory of the same name removes it.
 */
#ifndef BASE_SCRATCH_H
#define BASE_SCRATCH_H

#define RD_SCRATCH_MAX 8 /* the maximum number of directories that a process may have open */

/* Creates PARENT/NAME-XXXXXX with mode 0700.  If `parent` is NULL, creates NAME-tmp-XXXXXX in
 * $TMPDIR or else in /tmp, and removes directories of this name that dead processes have left. */
int rd_scratch_open(char **path, const char *parent, const char *name);

/* Removes the directory and frees the path, which may be NULL.  A forked process only frees the
 * path, because the directory belongs to its parent. */
void rd_scratch_close(char *path);

#endif
