/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A limit on the number of processes and threads that a run has at the same time: a control group
 * of the kernel (controller pids).  No process of the run can leave the group, and it is emptied
 * when the run is over.  Raddle must be allowed to create groups, which is usually true only for
 * root and users with a delegated group.  Other users get RLIMIT_NPROC (run_group_rest()), which
 * counts all processes of the user.
 */
#ifndef RUN_GROUP_H
#define RUN_GROUP_H

#include <stdbool.h>
#include <stdint.h>

struct run_group { /* zero if there is no group */
	char *path;
	/* 1 + a descriptor; a process that writes "0" to it joins the group; 0 if there is no
	 * group. */
	int procs;
};

/* Creates a group for at most `processes` processes and threads.  If that is not possible here,
 * returns false and *group is zero. */
bool run_group_open(struct run_group *group, uint64_t processes);

/* Kills all processes in the group. */
void run_group_clear(const struct run_group *group);

/* Kills all processes in the group and removes it. */
void run_group_close(struct run_group *group);

/* Returns the RLIMIT_NPROC that allows `processes` more processes than the user has now, or 0 if
 * the limit would have no effect (root). */
uint64_t run_group_rest(uint64_t processes);

#endif
