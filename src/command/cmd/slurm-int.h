/* SPDX-License-Identifier: Apache-2.0 */
/* Work that jobs of a Slurm cluster share: --executor, --shards, --slurm-options and --shard. */
#ifndef CMD_SLURM_INT_H
#define CMD_SLURM_INT_H

#include <stdbool.h>
#include <stdint.h>

bool cmd_is_slurm(void);

/* Whether the options make sense; the message names the command. */
int cmd_executor(const char *command);

struct cmd_slurm {
	const char *command;   /* inject */
	const char *directory; /* that it can be resumed with */
	uint64_t runs;	       /* at most so many shards make sense */
	char *const *more;     /* arguments of every shard; NULL: none */
};

/* Does the work; when it returns 0 all of it is in the logs of shards. */
int cmd_slurm(const struct cmd_slurm *c);

/* What --shard says; *shards is 0 without it. */
int cmd_shard(const char *command, unsigned *shard, unsigned *shards);

#endif
