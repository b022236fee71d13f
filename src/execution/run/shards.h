/* SPDX-License-Identifier: Apache-2.0 */
/* Work on a directory, divided among jobs of a Slurm cluster that run this same Raddle. */
#ifndef RUN_SHARDS_H
#define RUN_SHARDS_H

#include <stdbool.h>
#include <stdint.h>

struct run_shards {
	const char *command;   /* inject: `raddle COMMAND --resume DIRECTORY --shard I/N` does a part */
	const char *directory; /* that all machines see */
	uint64_t runs;	       /* more shards than this make no sense */
	uint64_t shards;       /* 0: the default */
	const char *options;   /* for sbatch; NULL: none */
	char *const *more;     /* arguments of every shard; NULL: none */
};

/* Does the work.  After it returns 0, all results are in the files of the shards. */
int run_shards(const struct run_shards *c);

/* "I/N" with I below N. */
bool run_shard_parse(const char *text, unsigned *shard, unsigned *shards);

#endif
