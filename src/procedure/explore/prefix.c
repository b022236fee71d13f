// SPDX-License-Identifier: Apache-2.0
/*
 * Prefixes.  In: schedules of runs that showed something new, and a seed.  Out: a schedule that
 * begins like one of them and continues as the seed determines.
 */
#include "explore/prefix.h"

#include "base/error.h"
#include "base/random.h"

#include <string.h>

bool prefixes_add(struct prefixes *p, const char *made, enum draw_points points)
{
	if (!made || p->count == PREFIXES)
		return false;
	p->items[p->count++] = (struct prefix){made, points};
	return true;
}

static uint64_t mixed(uint64_t seed, uint64_t n)
{
	return rd_mixed(seed + n * RD_RANDOM_STEP);
}

int prefix_begin(const char *made, uint64_t kept, uint64_t seed, struct schedule *schedule)
{
	int err = schedule_parse(schedule, made, strlen(made), "the run");

	if (err)
		return err;
	if (schedule->decision_count > kept)
		schedule->decision_count = kept;
	schedule->seed = seed;
	return RD_OK;
}

/* The last prefix was the hardest to reach, so about every second draw chooses it. */
int prefixes_draw(const struct prefixes *p, uint64_t seed, struct prefix_part *part,
		  struct schedule *schedule)
{
	RD_ASSERT(p->count > 0 && p->count <= PREFIXES);
	uint64_t which = mixed(seed, 1) % (2 * p->count);
	const struct prefix *prefix = &p->items[which < p->count ? which : p->count - 1];
	int err = prefix_begin(prefix->made, UINT64_MAX, seed, schedule);

	*part = (struct prefix_part){.prefix = (uint64_t)(prefix - p->items) + 1};
	if (err)
		return err;
	part->kept = mixed(seed, 3) % (schedule->decision_count + 1);
	schedule->decision_count = part->kept;
	return RD_OK;
}
