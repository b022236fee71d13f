/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work on a Slurm cluster.  A campaign, an exploration or a set of races is divided into shards; each is a
 * task of a job array that runs the same Raddle on the campaign's directory, which all nodes see. In: the
 * command of a shard.  Out: all shards are done, or which one is not and why.
 */
#ifndef RUN_SLURM_H
#define RUN_SLURM_H

#include <stddef.h>

#define RUN_SLURM_SHARDS_MAX 1000 /* what Slurm allows in an array unless told otherwise */

struct run_slurm {
	const char *directory; /* of the campaign; its folder "slurm" is for the jobs */
	char *const *command; /* as far as it is the same for all; "--jobs CPUS --shard I/COUNT" is put behind
				 it */
	unsigned shards;
	const char *options; /* more options for sbatch, quoted as for a shell; NULL: none */

	/* Told now and then: how many shards are done, and how many jobs are running.  May be NULL. */
	void (*progress)(void *context, unsigned done, unsigned running);
	void *context;
};

/*
 * Submits the array and waits.  A shard is done if its command ends with status 0;
 * one that is not, for whatever reason, is submitted once more.  SIGINT, SIGTERM or
 * SIGHUP cancel the jobs; *stopped is then the signal, else 0.
 */
int run_slurm_run(const struct run_slurm *request, int *stopped);

#endif
