/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories for the time being.  Each is removed with all that is in it when it is closed, and also if
 * a signal that asks to end (SIGINT, SIGTERM, SIGHUP, SIGQUIT) ends the process that made it, unless that
 * has handlers of its own.  Only SIGKILL and a bug of ours leave one behind.
 */
#ifndef BASE_SCRATCH_H
#define BASE_SCRATCH_H

#define RD_SCRATCH_MAX 8 /* open at a time in a process */

/* Makes PARENT/NAME-XXXXXX, for us alone.  Without a parent that is $TMPDIR, or /tmp. */
int rd_scratch_open(char **path, const char *parent, const char *name);

/* Removes it and frees the path, which may be NULL.  In a forked process it only frees: the directory is
 * its parent's. */
void rd_scratch_close(char *path);

#endif
