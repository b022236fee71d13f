/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that a program leaves running, such as daemons and children that it did not wait
 * for. */
#ifndef RUN_ORPHAN_H
#define RUN_ORPHAN_H

#include <sys/types.h>

/* Makes orphaned descendants our children from now on, no matter how they detach. */
void run_orphans_adopt(void);

/* Kills all our children and their orphans, until only the `count` processes in `keep` are left. */
void run_orphans_end(const pid_t *keep, size_t count);

/* Removes resources, other than files, that a killed process could not remove. */
void run_left_remove(pid_t pid);

#endif
