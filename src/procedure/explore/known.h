/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Combines findings of exploration with those of other methods, so that a check reports each
 * problem once, in its most informative form.
 */
#ifndef EXPLORE_KNOWN_H
#define EXPLORE_KNOWN_H

#include "finding/finding.h"
#include "trace/sites.h"

/* Removes findings of exploration that add nothing.  `endless` is true if the program does not end
 * by itself. */
void explore_leave_known(struct finding_set *set, bool endless);

/* Returns true if a deadlock or failure that exploration found is part of a confirmed finding of
 * the set, which another method found. */
bool explore_is_part(const struct finding_set *set, const struct finding *f);

/* Removes failures that exploration found at an access of a race, if classification has shown that
 * the race causes them. */
void explore_join_failures(struct finding_set *set);

/* Collects the sites (in the flavour `led`) of the accesses of all races in the set, whether
 * confirmed or only predicted.  An exploration should be able to switch threads at these sites.
 * Returns the number of sites, at most `most`. */
size_t explore_suggested(const struct finding_set *set, const struct trace_sites *sites, uint32_t *to,
			 size_t most);

/* Returns true if a race between these two places is confirmed. */
bool explore_is_known(const struct finding_set *set, const struct trace_sites *sites, const uint32_t site[2]);

#endif
