/* SPDX-License-Identifier: Apache-2.0 */
/* Inside classify/: runs of the program (explore/trial.h), as a classification wants them. */
#ifndef CLASSIFY_BENCH_H
#define CLASSIFY_BENCH_H

#include "classify/classify.h"
#include "explore/trial.h"

static inline struct trial_how classify_runs(const struct classify *how)
{
	return (struct trial_how){.program = how->program,
				  .input = how->input,
				  .companion = how->companion,
				  .setup = how->setup,
				  .timeout = how->timeout,
				  .recorded_ms = how->recorded_ms,
				  .no_world = how->no_world};
}

#endif
