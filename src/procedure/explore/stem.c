// SPDX-License-Identifier: Apache-2.0
/*
 * Stems.  In: schedules of runs that showed something new; a seed.  Out: a schedule that begins like one of
 * them and goes on by the seed.
 */
#include "explore/stem.h"

#include "base/error.h"
#include "base/random.h"

#include <string.h>

bool stems_add(struct stems *s, const char *made, enum mix_points points)
{
	if (!made || s->count == STEMS)
		return false;
	s->items[s->count++] = (struct stem){made, points};
	return true;
}

static uint64_t mixed(uint64_t seed, uint64_t n)
{
	return rd_mixed(seed + n * RD_RANDOM_STEP);
}

int stem_begin(const char *made, uint64_t kept, uint64_t seed, struct schedule *schedule)
{
	int err = schedule_parse(schedule, made, strlen(made), "the run");

	if (err)
		return err;
	if (schedule->decision_count > kept)
		schedule->decision_count = kept;
	schedule->seed = seed;
	return RD_OK;
}

/* What came last was the hardest to come to: it is every second one. */
int stems_draw(const struct stems *s, uint64_t seed, struct stem_part *part, struct schedule *schedule)
{
	uint64_t which = mixed(seed, 1) % (2 * s->count);
	const struct stem *stem = &s->items[which < s->count ? which : s->count - 1];
	int err = stem_begin(stem->made, UINT64_MAX, seed, schedule);

	*part = (struct stem_part){.stem = (uint64_t)(stem - s->items) + 1};
	if (err)
		return err;
	part->kept = mixed(seed, 3) % (schedule->decision_count + 1);
	schedule->decision_count = part->kept;
	return RD_OK;
}
