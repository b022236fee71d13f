// SPDX-License-Identifier: Apache-2.0
/*
 * A recorded run under a schedule of our own making.  In: a program in the flavour `record`, and a number.
 * Out: a trace of a run whose threads took turns as the number says, for whoever predicts from it.
 *
 * In that flavour threads can be stopped at operations only, and the trace is like that of an ordinary run.
 */
#include "explore/explore.h"

#include "explore/mix.h"

int explore_record(const struct explore *how, const struct explore_racy *which, const char *trace,
		   bool *counts)
{
	struct mix_draw draw = mix_draw(which->number, how->seed, how->strategy, which->threads);
	struct trial_bench b;
	struct trial t = {0};
	struct schedule s;
	int err = trial_open(&b, &how->runs, NULL);

	schedule_init(&s);
	s.turns = true;
	s.seed = draw.seed;
	b.strategy = draw.strategy;
	b.strategy.length = which->length;
	b.record_into = trace;
	if (!err)
		err = trial_run(&b, &s, &t, NULL);
	*counts = t.counts;
	schedule_release(&s);
	trial_close(&b);
	return err;
}
