// SPDX-License-Identifier: Apache-2.0
/*
 * Finds accesses that are unordered in only one order of a race (unordered-int.h).  In: the races that
 * the detector found in runs of both orders.  Out: the sites of those that it found in only one order.
 *
 * Invariant: a pair of sites is listed at most once for each order.
 */
#include "classify/unordered-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>

/* The maximum number of sites at which threads stop.  Chosen by hand: more than the number of accesses
 * that are tried (PAIRS_SWITCHED in next.c). */
#define SITES 32

static uint64_t pair_of(const uint32_t site[2])
{
	uint32_t low = site[0] < site[1] ? site[0] : site[1], high = site[0] < site[1] ? site[1] : site[0];

	return (uint64_t)low << 32 | high;
}

static bool has(const struct unordered *u, unsigned order, uint64_t pair)
{
	for (size_t i = 0; i < u->count[order]; i++)
		if (u->pairs[order][i] == pair)
			return true;
	return false;
}

void unordered_note(struct unordered *u, unsigned order, const struct replay_result *run)
{
	RD_ASSERT(order < UNORDERED_ORDERS);
	for (size_t i = 0; i < run->race_count; i++) {
		uint64_t pair = pair_of(run->races[i].site);

		if (run->races[i].planned || has(u, order, pair))
			continue;
		RD_GROW(u->pairs[order], u->capacity[order], u->count[order] + 1);
		u->pairs[order][u->count[order]++] = pair;
	}
}

void unordered_clear(struct unordered *u)
{
	for (unsigned order = 0; order < UNORDERED_ORDERS; order++)
		u->count[order] = 0;
}

void unordered_release(struct unordered *u)
{
	for (unsigned order = 0; order < UNORDERED_ORDERS; order++)
		free(u->pairs[order]);
	*u = (struct unordered){0};
}

static void watch(struct schedule *s, uint32_t site)
{
	struct schedule_watch *w;

	for (size_t i = 0; i < s->watch_count; i++)
		if (s->watches[i].site == site)
			return;
	if (!site || s->watch_count == SITES)
		return;
	w = schedule_add_watch(s);
	w->site = site;
	w->after = SCHEDULE_ALWAYS;
	w->reads = w->writes = w->stand = true;
}

void unordered_watch(const struct unordered *u, struct schedule *watches)
{
	watches->watch_count = 0;
	for (unsigned order = 0; order < UNORDERED_ORDERS; order++)
		for (size_t i = 0; i < u->count[order]; i++)
			if (!has(u, !order, u->pairs[order][i])) {
				watch(watches, (uint32_t)(u->pairs[order][i] >> 32));
				watch(watches, (uint32_t)u->pairs[order][i]);
			}
}
