// SPDX-License-Identifier: Apache-2.0
/*
 * Divides work among the jobs of a cluster.  The work is described by a directory.  Job I runs
 * `raddle COMMAND --resume DIR --shard I/N`, which does one shard of the work and writes its
 * results to files of that shard.  The jobs run this same Raddle, so the paths of Raddle and of the
 * directory must be the same on all machines.
 */
#include "run/shards.h"

#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "base/progress.h"
#include "run/slurm.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The default number of shards.  A failed shard is repeated as a whole, so shards should be small.
 * 16 shards keep a small cluster busy. */
#define SHARDS 16

struct shards_watch {
	struct rd_progress progress;
	unsigned shards;
};

static void tell(void *context, unsigned done, unsigned running)
{
	struct shards_watch *w = context;
	char detail[64];

	snprintf(detail, sizeof detail, "%u running, %u waiting", running, w->shards - done - running);
	rd_progress_update(&w->progress, done, detail);
}

static int submit(const struct run_shards *c, unsigned shards, char *const *command)
{
	struct shards_watch watch = {.shards = shards};
	struct run_slurm request = {.directory = c->directory,
				    .command = command,
				    .shards = shards,
				    .options = c->options,
				    .progress = tell,
				    .context = &watch};
	int stopped = 0, r;

	rd_progress_start(&watch.progress, "shards on slurm", shards);
	r = run_slurm_run(&request, &stopped);
	rd_progress_end(&watch.progress);
	if (!r && stopped)
		r = rd_fail(RD_ETOOL,
			    "%s: stopped by a signal (%s), the jobs are cancelled; --resume %s continues",
			    c->command, strsignal(stopped), c->directory);
	return r;
}

int run_shards(const struct run_shards *c)
{
	uint64_t shards = c->shards ? c->shards : SHARDS;
	char *raddle, directory[PATH_MAX];
	struct rd_argv argv = RD_ARGV_INIT;
	int r;

	if (shards > RUN_SLURM_SHARDS_MAX)
		return rd_fail(RD_EUSAGE, "%s: --shards %" PRIu64 ": it must be from 1 to %d", c->command,
			       shards, RUN_SLURM_SHARDS_MAX);
	if (!realpath(c->directory, directory))
		return rd_fail_errno("cannot find the directory %s", c->directory);
	raddle = rd_own_path();
	if (!raddle)
		return RD_ESYSTEM;
	rd_argv_add(&argv, raddle);
	free(raddle);
	rd_argv_add(&argv, c->command);
	rd_argv_add(&argv, "--quiet");
	rd_argv_add(&argv, "--resume");
	rd_argv_add(&argv, directory);
	if (c->more)
		rd_argv_add_all(&argv, c->more);
	r = submit(c, (unsigned)(shards < c->runs ? shards : c->runs), argv.items);
	rd_argv_release(&argv);
	return r;
}

bool run_shard_parse(const char *text, unsigned *shard, unsigned *shards)
{
	char rest;

	return sscanf(text, "%u/%u%c", shard, shards, &rest) == 2 && *shard < *shards;
}
