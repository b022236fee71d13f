/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits the number of processes and threads that a run has at the same time.  The limit is set by
 * a control group of the kernel (controller pids), which no process of the run can leave.  When
 * the run is over, all processes in the group are killed.
 *
 * Usually only root, and users to whom a group was delegated, may create control groups.  For
 * other users, Raddle uses RLIMIT_NPROC instead (run_group_rest()), which counts all processes of
 * the user.
 */
#ifndef RUN_GROUP_H
#define RUN_GROUP_H

#include <stdbool.h>
#include <stdint.h>

struct run_group { /* zeroed if there is no group */
	char *path;
	/* 1 + a file descriptor, or 0 if there is no group.  A process joins the group by writing
	 * "0" to the descriptor. */
	int procs;
};

/* Creates a group for at most `processes` processes and threads.  If that is not possible here,
 * returns false and zeroes *group. */
bool run_group_open(struct run_group *group, uint64_t processes);

/* Kills all processes in the group. */
void run_group_clear(const struct run_group *group);

/* Kills all processes in the group and removes it. */
void run_group_close(struct run_group *group);

/* Returns a value of RLIMIT_NPROC that allows `processes` more processes than the user has now.
 * Returns 0 if the limit would have no effect, as for root. */
uint64_t run_group_rest(uint64_t processes);

#endif
