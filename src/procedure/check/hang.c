// SPDX-License-Identifier: Apache-2.0
/*
 * Connects the watchdog in record/, which asks whether a program is deadlocked, with the analysis
 * in predict/, which answers. record/ must not depend on predict/.
 */
#include "check/hang.h"

#include "base/error.h"
#include "predict/batch.h"
#include "predict/hang.h"

bool check_hang(const char *trace, const struct run_still *still, FILE *answer)
{
	const struct predict_sleepers sleepers = {still->waiting, still->waiting_count,
						  run_still_forever(still), !still->shared};

	return predict_batch_hang(trace, &sleepers, answer);
}

int check_hang_read(const struct record_result *result, struct finding_set **set)
{
	*set = NULL;
	if (!result->stood)
		return RD_OK;
	return finding_parse(set, result->answer.data, result->answer.length, "the analysis of the hang");
}
