/* SPDX-License-Identifier: Apache-2.0 */
/* Work that jobs of a Slurm cluster share: --executor, --shards, --slurm-options and --shard. */
#ifndef CMD_SLURM_INT_H
#define CMD_SLURM_INT_H

#include <stdbool.h>
#include <stdint.h>

bool cmd_is_slurm(void);

/* Checks the options for clusters; the message names the command. */
int cmd_executor(const char *command);

struct cmd_slurm {
	const char *command;   /* inject, explore or classify */
	const char *directory; /* the directory with which the work can be resumed */
	uint64_t runs;	       /* the number of runs; more shards than runs make no sense */
	char *const *more;     /* further arguments of every shard; NULL if there are none */
};

/* Makes jobs do the work; if it returns 0, all results are in the files of the shards. */
int cmd_slurm(const struct cmd_slurm *c);

/* Parses --shard; *shards is 0 without it. */
int cmd_shard(const char *command, unsigned *shard, unsigned *shards);

#endif
