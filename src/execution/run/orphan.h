/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that a program leaves behind: daemons, children that nobody waits for. */
#ifndef RUN_ORPHAN_H
#define RUN_ORPHAN_H

#include <sys/types.h>

/* From now on what our descendants leave behind becomes ours, however they try to get away. */
void run_orphans_adopt(void);

/* Kills all children of ours but one (0: all), and what they leave behind, until there are none. */
void run_orphans_end(pid_t but);

/* Removes what a process that was killed could not remove itself, outside of its files. */
void run_left_remove(pid_t pid);

#endif
