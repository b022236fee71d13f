/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs work on a Slurm cluster.  A campaign, an exploration or a set of races is divided into
 * parts, called shards.  Each shard is a task of a job array.  All shards run the same Raddle on
 * the same directory, which all nodes share.  The caller passes the command of a shard.  If a
 * shard fails, an error states which one failed and why.
 */
#ifndef RUN_SLURM_H
#define RUN_SLURM_H

#include <stddef.h>

#define RUN_SLURM_SHARDS_MAX 1000 /* Slurm's default limit for an array */

struct run_slurm {
	const char *directory; /* directory of the campaign; its folder "slurm" is for the jobs */
	/* The command that all shards run; "--jobs CPUS --shard I/COUNT" is appended. */
	char *const *command;
	unsigned shards;
	const char *options; /* further options for sbatch, quoted as for a shell; or NULL */

	/* Called regularly with the number of shards that are done and the number of jobs that are
	 * running.  May be NULL. */
	void (*progress)(void *context, unsigned done, unsigned running);
	void *context;
};

/*
 * Submits the job array and waits for it.  A shard is done if its command exits with status 0.
 * Any other shard is submitted once more.  SIGINT, SIGTERM or SIGHUP cancels the jobs, and the
 * signal is stored in *stopped.  Otherwise *stopped is set to 0.
 */
int run_slurm_run(const struct run_slurm *request, int *stopped);

#endif
