/* SPDX-License-Identifier: Apache-2.0 */
/* Divides work among the jobs of a Slurm cluster, for the options --executor, --shards,
 * --slurm-options and --shard. */
#ifndef CMD_SLURM_INT_H
#define CMD_SLURM_INT_H

#include <stdbool.h>
#include <stdint.h>

bool cmd_is_slurm(void);

/* Checks the options for clusters.  `command` is named in error messages. */
int cmd_executor(const char *command);

struct cmd_slurm {
	const char *command;   /* inject, explore or classify */
	const char *directory; /* the directory with which the work can be resumed */
	uint64_t runs;	       /* the number of runs, which is also the maximum number of shards */
	char *const *more;     /* further arguments of every shard; NULL if there are none */
};

/* Submits the work to the cluster and waits for the jobs.  Each job does one part of the work,
 * called a shard.  If the function returns 0, the files of the shards contain all results. */
int cmd_slurm(const struct cmd_slurm *c);

/* Parses --shard.  *shards becomes 0 if the option is not given. */
int cmd_shard(const char *command, unsigned *shard, unsigned *shards);

#endif
