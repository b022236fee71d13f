/* SPDX-License-Identifier: Apache-2.0 */
/* Divides the work on a directory among jobs of a Slurm cluster.  The jobs run this same Raddle. */
#ifndef RUN_SHARDS_H
#define RUN_SHARDS_H

#include <stdbool.h>
#include <stdint.h>

struct run_shards {
	/* The subcommand, such as `inject`.  `raddle COMMAND --resume DIRECTORY --shard I/N` does
	 * shard I. */
	const char *command;
	const char *directory; /* a directory that all machines share */
	uint64_t runs;	       /* total number of runs; there are never more shards than runs */
	uint64_t shards;       /* number of shards; 0 for the default */
	const char *options;   /* options for sbatch; NULL if there are none */
	char *const *more;     /* further arguments of every shard; NULL if there are none */
};

/* Does the work.  If it returns 0, all results are in the files of the shards. */
int run_shards(const struct run_shards *c);

/* Parses "I/N" with I below N. */
bool run_shard_parse(const char *text, unsigned *shard, unsigned *shards);

#endif
