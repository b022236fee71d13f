/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A limit on how many processes and threads a run has at once, however it makes them: a control group of the
 * kernel (controller pids), which no process of the run leaves and which is emptied when the run is over.
 *
 * It needs a group that we may make groups in: root does, mostly, and who was given one.  Others have
 * RLIMIT_NPROC (run_group_rest()), which counts everything that the user runs.
 */
#ifndef RUN_GROUP_H
#define RUN_GROUP_H

#include <stdbool.h>
#include <stdint.h>

struct run_group { /* zero is none */
	char *path;
	int procs; /* a descriptor + 1: who writes "0" there is in the group; 0: there is none */
};

/* Makes a group for so many; false: that is not possible here, and *group is none. */
bool run_group_open(struct run_group *group, uint64_t processes);

/* Ends all that is in the group. */
void run_group_clear(const struct run_group *group);

/* The same, and removes it. */
void run_group_close(struct run_group *group);

/* What RLIMIT_NPROC must be for so many more than the user has now; 0: it limits nothing (root). */
uint64_t run_group_rest(uint64_t processes);

#endif
