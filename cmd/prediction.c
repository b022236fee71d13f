// SPDX-License-Identifier: Apache-2.0
/* Options of a prediction, and the schedules that come of it, as files. */
#include "cmd/prediction.h"

#include "base/error.h"
#include "base/file.h"
#include "finding/schedule.h"

#include <inttypes.h>

int cmd_prediction_check(const struct predict_batch *p, const char *name)
{
	if (p->window > UINT32_MAX || p->work == 0 || p->work > 1000000000)
		return rd_fail(RD_EUSAGE, "%s: --window or --work is out of range", name);
	return RD_OK;
}

void cmd_prediction_rest(const struct predict_batch *p, FILE *out, const char *done)
{
	if (p->late)
		fputs("The time for prediction was up before all was decided; --time raises it.\n", out);
	if (p->left_out)
		fprintf(out, "%" PRIu64 " more were not %s; --limit raises the number.\n", p->left_out, done);
	if (p->unknown)
		fprintf(out, "%" PRIu64 " candidates are undecided; --work raises the effort.\n", p->unknown);
}

int cmd_write_schedule(struct finding_set *set, struct finding *f, const char *directory)
{
	f->schedule_path = finding_textf(set, "%s/%s.schedule", directory, f->id);
	return schedule_write(f->schedule, f->schedule_path);
}

int cmd_write_schedules(struct finding_set *set, const char *directory)
{
	int err = rd_mkdirs(directory);

	for (size_t i = 0; i < set->count && !err; i++) {
		struct finding *f = set->items[i];
		if (!f->schedule || f->status == FINDING_DROPPED)
			continue;
		err = cmd_write_schedule(set, f, directory);
	}
	return err;
}
