/* SPDX-License-Identifier: Apache-2.0 */
/* Races that the detector saw in explored schedules, as findings. */
#ifndef EXPLORE_SIGHTED_H
#define EXPLORE_SIGHTED_H

#include "explore/explore.h"

/* Makes an unconfirmed race from each pair of sites in `seen`, in a set that the caller frees.
 * `sites` is the site table of the explored flavour. */
struct finding_set *explore_sighted(const struct explore_result *result, const struct trace_sites *sites);

/* Adds those races of `sighted` whose places differ from the places of every race in the set.
 * `sighted` must live as long as the set; it may be NULL. */
void explore_put_sighted(struct finding_set *set, const struct finding_set *sighted);

#endif
