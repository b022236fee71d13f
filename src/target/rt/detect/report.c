// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the detector's reports.  In: two accesses that conflict and are not ordered.  Out: a race
 * in the memory shared with the replayer, once for each pair of sites.
 */
#include "rt/common/hash.h"
#include "rt/detect/report.h"

#include "raddle/steer.h"

static uint32_t number_of(uint64_t who)
{
	const struct rt_tenant *tenant = rt_detect()->lanes[RT_WHO_LANE(who)].tenant;

	while (tenant->before && tenant->first > RT_WHO_EPOCH(who))
		tenant = tenant->before;
	return tenant->number;
}

/* Returns false if the pair is known already, or if there are too many pairs. */
static bool is_new(struct rt_detect *d, uint32_t a, uint32_t b)
{
	uint64_t pair = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
	uint64_t hash = rt_hash(pair + 1);

	for (size_t i = hash >> 32;; i++) {
		uint64_t *at = &d->reported[i % (2 * RT_REPORTED)];
		if (*at == pair + 1 || d->reported_count == RT_REPORTED)
			return false;
		if (*at)
			continue;
		*at = pair + 1;
		d->reported_count++;
		return true;
	}
}

/* Returns true if the pair is the race that the plan aims at.  There is always room for that
 * race. */
static bool is_wanted(const struct raddle_steer *s, uint32_t a, uint32_t b)
{
	uint32_t x = s->goals[0].site, y = s->goals[1].site;

	return s->goal_count && ((a == x && b == y) || (a == y && b == x));
}

static void write_race(const struct rt_seen_access *a, uint64_t other, uint32_t site, uint64_t bits)
{
	struct raddle_steer *s = rt_detect()->steer;
	uint32_t count = atomic_load_explicit(&s->race_count, memory_order_relaxed), at = count;
	uint64_t above;

	if (at >= RADDLE_STEER_RACES && is_wanted(s, site, a->site))
		at = RADDLE_STEER_RACES - 1;
	if (at < RADDLE_STEER_RACES) {
		above = ~(bits >> __builtin_ctzll(bits));
		s->races[at] = (struct raddle_steer_race){
			.slot = {number_of(other), number_of(a->who)},
			.site = {site, a->site},
			.write = {other & RT_WHO_WRITE, a->who & RT_WHO_WRITE},
			.atomic = {!(other & RT_WHO_PLAIN), !(a->who & RT_WHO_PLAIN)},
			.address = a->block + (uint32_t)__builtin_ctzll(bits),
			.size = above ? (uint32_t)__builtin_ctzll(above) : 64,
		};
	}
	atomic_store_explicit(&s->race_count, count + 1, memory_order_release);
}

static void report(const struct rt_seen_access *a, uint64_t other, uint32_t site, uint64_t bits)
{
	struct rt_detect *d = rt_detect();

	if (!rt_detect_is_on() || !rt_spin(&d->report_lock))
		return;
	if (is_new(d, site, a->site))
		write_race(a, other, site, bits);
	rt_spin_leave(&d->report_lock);
}

static bool forgiven(uint64_t who)
{
	return RT_WHO_EPOCH(who) <=
	       atomic_load_explicit(&rt_detect()->lanes[RT_WHO_LANE(who)].floor, memory_order_relaxed);
}

static void report_site(const struct rt_seen_access *a, const struct rt_cell *cell, uint32_t which,
			uint64_t bits)
{
	struct rt_seen_access read = {a->block, 0, a->who & ~(uint64_t)RT_WHO_WRITE, a->read, 0};

	if (!bits)
		return;
	if (a->read && cell->who & RT_WHO_WRITE)
		report(&read, cell->who, cell->site[which], bits);
	report(a, cell->who, cell->site[which], bits);
}

__attribute__((noinline, cold)) bool rt_race_is_forgiven(const struct rt_seen_access *a,
							 const struct rt_cell *cell)
{
	uint64_t bits = cell->mask & a->bits;

	if (forgiven(cell->who))
		return true;
	if (forgiven(a->who))
		return false;
	report_site(a, cell, 0, bits & ~cell->second);
	report_site(a, cell, 1, bits & cell->second);
	return false;
}
