// SPDX-License-Identifier: Apache-2.0
/* Options of a prediction. */
#include "cmd/prediction-int.h"

#include "cmd/option-int.h"

/* The number of search steps, in millions, that stands for "no limit".  So many steps would take
 * more than a year. */
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
