// SPDX-License-Identifier: Apache-2.0
/* Saves the schedules of findings as files, and stores the paths of the files in the findings. */
#include "finding/save.h"

#include "base/error.h"
#include "base/file.h"
#include "finding/schedule.h"

int finding_save_schedule(struct finding_set *set, struct finding *f, const char *directory)
{
	RD_ASSERT(f->schedule);
	f->schedule_path = finding_textf(set, "%s/%s.schedule", directory, f->id);
	return schedule_write(f->schedule, f->schedule_path);
}

int finding_save_schedules(struct finding_set *set, const char *directory)
{
	int err = rd_mkdirs(directory);

	for (size_t i = 0; i < set->count && !err; i++) {
		struct finding *f = set->items[i];

		if (f->schedule && f->status != FINDING_DROPPED)
			err = finding_save_schedule(set, f, directory);
	}
	return err;
}

static int save_witness(struct finding_set *set, struct finding *f, size_t n, const char *directory)
{
	struct finding_witness *w = &f->witnesses[n];

	if (!w->schedule)
		return RD_OK;
	if (n)
		w->schedule_path = finding_textf(set, "%s/%s.witness-%zu.schedule", directory, f->id, n + 1);
	else
		w->schedule_path = finding_textf(set, "%s/%s.witness.schedule", directory, f->id);
	return schedule_write(w->schedule, w->schedule_path);
}

int finding_save_witnesses(struct finding_set *set, const char *directory)
{
	int err = RD_OK;

	for (size_t i = 0; i < set->count && !err; i++) {
		struct finding *f = set->items[i];

		if (f->witness_count)
			err = rd_mkdirs(directory);
		for (size_t n = 0; n < f->witness_count && !err; n++)
			err = save_witness(set, f, n, directory);
	}
	return err;
}
