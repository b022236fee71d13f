// SPDX-License-Identifier: Apache-2.0
/* The options `--executor slurm` and `--shard` of `raddle inject`, `explore` and `classify`. */
#include "cmd/slurm-int.h"

#include "base/error.h"
#include "cmd/option-int.h"
#include "run/shards.h"

#include <string.h>

bool cmd_is_slurm(void)
{
	return opt.executor && !strcmp(opt.executor, "slurm");
}

int cmd_executor(const char *command)
{
	if (opt.executor && !cmd_is_slurm() && strcmp(opt.executor, "local") != 0)
		return rd_fail(RD_EUSAGE, "%s: --executor %s: must be local or slurm", command, opt.executor);
	if (!cmd_is_slurm() && (opt.shards || opt.slurm_options))
		return rd_fail(RD_EUSAGE, "%s: --shards and --slurm-options need --executor slurm", command);
	if (cmd_is_slurm() && !opt.resume && !opt.output)
		return rd_fail(RD_EUSAGE, "%s: -o DIR must name a directory that all machines see", command);
	return RD_OK;
}

int cmd_slurm(const struct cmd_slurm *c)
{
	RD_ASSERT(cmd_is_slurm() && c->directory);
	return run_shards(&(struct run_shards){.command = c->command,
					       .directory = c->directory,
					       .runs = c->runs,
					       .shards = opt.shards,
					       .options = opt.slurm_options,
					       .more = c->more});
}

int cmd_shard(const char *command, unsigned *shard, unsigned *shards)
{
	*shard = *shards = 0;
	if (opt.shard && (!opt.resume || !run_shard_parse(opt.shard, shard, shards)))
		return rd_fail(RD_EUSAGE, "%s: --shard I/N needs --resume, and I from 0 to N-1", command);
	RD_ASSERT(!opt.shard || *shard < *shards);
	return RD_OK;
}
