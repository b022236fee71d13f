/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory to which only one command at a time may write.  The claim is a lock on
 * DIR/.raddle-lock.  The file remains and marks the directory as made by Raddle.  The kernel drops
 * the lock when the process ends.
 */
#ifndef BASE_CLAIM_H
#define BASE_CLAIM_H

#include <stdbool.h>

#define RD_CLAIM_FILE ".raddle-lock"

struct rd_claim {
	char *path; /* the directory that was claimed */
	int fd;
};

/* Creates the directory if necessary and claims it.  Fails if another process has claimed it.  With
 * `elsewhere`, tries PATH-2, PATH-3 and so on instead, and a warning names the claimed
 * directory. */
int rd_claim(struct rd_claim *claim, const char *path, bool elsewhere);
void rd_claim_release(struct rd_claim *claim);

/* Returns true if the directory contains a lock file, locked or not.  If so, Raddle made the
 * directory. */
bool rd_claim_marks(const char *path);

#endif
