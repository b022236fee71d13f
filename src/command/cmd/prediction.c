// SPDX-License-Identifier: Apache-2.0
/* Options of a prediction, and what it left out in words. */
#include "cmd/prediction.h"

#include "cmd/option.h"

#include <inttypes.h>

/* Millions of steps: no limit, for this is more than a year. */
#define WORK_MAX 1000000000

void cmd_prediction_start(struct predict_batch *p)
{
	*p = (struct predict_batch){.sound_only = opt.sound_only,
				    .sync_preserving = opt.sync_preserving,
				    .no_races = opt.no_races,
				    .no_deadlocks = opt.no_deadlocks,
				    .force = opt.force,
				    .window = opt.window,
				    .memory = opt.prediction_memory == RD_OPTION_UNSET
						      ? predict_batch_memory()
						      : opt.prediction_memory,
				    .limit = opt.limit ? opt.limit : UINT64_MAX,
				    .work = opt.work ? opt.work : WORK_MAX};
}

void cmd_prediction_rest(const struct predict_batch *p, FILE *out, const char *done)
{
	if (p->not_recorded)
		fprintf(out,
			"The run was long: %" PRIu64
			" accesses of busy places to busy memory are not in the trace; --all-accesses "
			"records them.\n",
			p->not_recorded);
	if (p->parts)
		fprintf(out,
			"The trace was too large for the memory and was looked at in %" PRIu64
			" parts; errors between two of them are not seen, and --memory makes them larger.\n",
			p->parts);
	if (p->skipped)
		fprintf(out, "There was no time for %" PRIu64 " of the parts.\n", p->skipped);
	if (p->late)
		fputs("The time for prediction was up before all was decided; --time raises it.\n", out);
	if (p->left_out)
		fprintf(out, "%" PRIu64 " more were not %s; --limit raises the number.\n", p->left_out, done);
	if (p->unknown)
		fprintf(out, "%" PRIu64 " candidates are undecided; --work raises the effort.\n", p->unknown);
}
