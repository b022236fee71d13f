/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory that one command at a time writes to.  The claim is a lock on a file of ours in it,
 * DIR/.raddle-lock, which stays behind and marks the directory as one that Raddle made.  The lock goes with
 * the process, however it ends.
 */
#ifndef BASE_CLAIM_H
#define BASE_CLAIM_H

#include <stdbool.h>

#define RD_CLAIM_FILE ".raddle-lock"

struct rd_claim {
	char *path; /* the directory that was claimed */
	int fd;
};

/* Makes the directory if need be and claims it.  One that another process has claimed is an error; with
 * `elsewhere` PATH-2, PATH-3 and so on are tried in turn, and a warning says which it became. */
int rd_claim(struct rd_claim *claim, const char *path, bool elsewhere);
void rd_claim_release(struct rd_claim *claim);

/* Whether there is a claim, held or not: Raddle made this directory. */
bool rd_claim_marks(const char *path);

#endif
