/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coverage of schedules: pairs of places in the source with conflicting accesses, and the
 * orders in which these accesses were seen.  Converts pairs of sites, as runs report them
 * (raddle/steer.h), to pairs of places for reports.
 */
#ifndef EXPLORE_COVER_H
#define EXPLORE_COVER_H

#include "base/map.h"
#include "finding/finding.h"
#include "trace/sites.h"

struct cover {
	struct cover_pair {
		uint64_t sites; /* the pair, as in `pairs` of raddle/steer.h */
		uint64_t first; /* the number of the first schedule that showed the pair, from 1 */
	} * pairs;
	size_t count, capacity;
	struct rd_umap known; /* maps `sites` to 1 + the index of the pair */
};

void cover_release(struct cover *c);

/* Returns true if the pair is new. */
bool cover_add(struct cover *c, uint64_t sites, uint64_t first);
bool cover_has(const struct cover *c, uint64_t sites);

/* Stores the pairs of places in the set, where they replace the pairs of an earlier call. */
void cover_describe(const struct cover *c, const struct trace_sites *sites, struct finding_set *set);

#endif
