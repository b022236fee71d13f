// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle inject --executor slurm`: the jobs of a cluster run this same Raddle, so its path
 * and the campaign's must lead to the same on all machines.  In: a campaign that was begun.
 * Out: its runs, in the logs of its shards.
 */
#include "cmd/inject.h"

#include "base/error.h"
#include "inject/slurm.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS 16

struct watch {
	struct rd_progress progress;
	unsigned shards;
};

static void tell(void *context, unsigned done, unsigned running)
{
	struct watch *w = context;
	char detail[64];

	snprintf(detail, sizeof detail, "%u running, %u waiting", running, w->shards - done - running);
	rd_progress_update(&w->progress, done, detail);
}

static int submit(const struct cmd_inject_cluster *cluster, unsigned shards, char *const *command)
{
	struct watch watch = {.shards = shards};
	struct inject_slurm request = {.directory = cluster->directory,
				       .command = command,
				       .shards = shards,
				       .options = cluster->options,
				       .progress = tell,
				       .context = &watch};
	int stopped = 0, r;

	rd_progress_start(&watch.progress, "shards on slurm", shards);
	r = inject_slurm_run(&request, &stopped);
	rd_progress_end(&watch.progress);
	if (!r && stopped)
		r = rd_fail(RD_ETOOL,
			    "inject: stopped by a signal (%s), the jobs are cancelled; --resume %s continues",
			    strsignal(stopped), cluster->directory);
	return r;
}

int cmd_inject_slurm(const struct cmd_inject_cluster *cluster)
{
	uint64_t runs = cluster->setup->runs * cluster->setup->kinds.count;
	uint64_t shards = cluster->shards ? cluster->shards : SHARDS;
	char raddle[PATH_MAX], directory[PATH_MAX];
	char *const command[] = {raddle, "inject", "--quiet", "--resume", directory, NULL};

	if (shards > INJECT_SLURM_SHARDS_MAX)
		return rd_fail(RD_EUSAGE, "inject: --shards %" PRIu64 ": from 1 to %d", shards,
			       INJECT_SLURM_SHARDS_MAX);
	if (!realpath("/proc/self/exe", raddle))
		return rd_fail_errno("inject: cannot find out where raddle is");
	if (!realpath(cluster->directory, directory))
		return rd_fail_errno("%s", cluster->directory);
	return submit(cluster, (unsigned)(shards < runs ? shards : runs), command);
}
