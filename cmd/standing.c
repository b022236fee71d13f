// SPDX-License-Identifier: Apache-2.0
/*
 * The watchdog's question to the analyses: the trace so far and what the kernel says of the threads go in,
 * a finding document comes out, or nothing.
 */
#include "cmd/standing.h"

#include "base/error.h"
#include "model/open.h"
#include "predict/hang.h"

bool cmd_standing(const char *directory, const struct run_still *still, FILE *answer)
{
	const struct predict_sleepers sleepers = {.tids = still->waiting,
						  .count = still->waiting_count,
						  .forever = still->all && !still->catches && still->alone};
	struct finding_set *set = finding_set_new();
	struct model_file f;
	bool stands = model_open(&f, directory, false) == RD_OK && predict_hang(f.model, &sleepers, set) &&
		      finding_write(set, answer) == RD_OK;

	model_close(&f);
	finding_set_free(set);
	return stands;
}

int cmd_standing_read(const struct record_result *result, struct finding_set **set)
{
	*set = NULL;
	if (!result->stood)
		return RD_OK;
	return finding_parse(set, result->answer.data, result->answer.length, "the look at the program");
}
