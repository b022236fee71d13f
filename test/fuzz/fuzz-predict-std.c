/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes prediction on STD text, with the steps of `raddle predict`.  Any text must be accepted or
 * rejected, and every prediction from a small text must have a valid witness.
 */
#include "base/error.h"
#include "predict/predict-int.h"
#include "test/unit/predict/std.h"

#include "test/fuzz/scratch.h"
#include "test/unit/predict/validate.c"

static void predict(const struct exec *x)
{
	struct predict_opts o = {.work = 20000};
	struct predict_result r;

	RD_ASSERT(!predict_run(x, &o, &r));
	for (size_t i = 0; i < r.race_count; i++) {
		const struct predict_race *c = &r.races[i];
		uint32_t pair[] = {c->first, c->second};
		RD_ASSERT(!predict_validate(x, c->class == PREDICT_SOUND, pair, 2, &c->witness));
	}
	for (size_t i = 0; i < r.deadlock_count; i++) {
		const struct predict_deadlock *c = &r.deadlocks[i];
		RD_ASSERT(!predict_validate(x, c->class == PREDICT_SOUND, c->stops, c->count, &c->witness));
	}
	predict_result_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct std_case c;

	rd_log_set(rd_log_discard, NULL);
	scratch_make();
	if (std_case_open(&c, SCRATCH "/case", (const char *)data, size))
		return 0;
	if (c.t.x.count <= 40 && c.t.x.threads <= 6)
		predict(&c.t.x);
	std_case_close(&c);
	return 0;
}
