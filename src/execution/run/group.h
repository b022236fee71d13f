/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A limit on the processes and threads that a run has at once: a control group of the kernel
 * (controller pids).  No process of the run can leave it, and it is emptied when the run is over.
 * Raddle must be allowed to create groups: usually only root and users with a delegated group are.
 * Other users get RLIMIT_NPROC (run_group_rest()), which counts all processes of the user.
 */
#ifndef RUN_GROUP_H
#define RUN_GROUP_H

#include <stdbool.h>
#include <stdint.h>

struct run_group { /* zero: no group */
	char *path;
	int procs; /* a descriptor + 1: a process that writes "0" to it joins the group; 0: no group */
};

/* Creates a group for that many; false: not possible here, and *group is zero. */
bool run_group_open(struct run_group *group, uint64_t processes);

/* Kills all processes in the group. */
void run_group_clear(const struct run_group *group);

/* The same, and removes it. */
void run_group_close(struct run_group *group);

/* The RLIMIT_NPROC that allows so many more processes than the user has now; 0: it has no effect
 * (root). */
uint64_t run_group_rest(uint64_t processes);

#endif
