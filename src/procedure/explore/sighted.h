/* SPDX-License-Identifier: Apache-2.0 */
/* Races that the detector saw in explored schedules, as findings. */
#ifndef EXPLORE_SIGHTED_H
#define EXPLORE_SIGHTED_H

#include "explore/explore.h"

/* Makes an unconfirmed race from each pair of sites in result->seen.  Returns the races in a set
 * that the caller frees.  `sites` is the site table of the explored flavour. */
struct finding_set *explore_sighted(const struct explore_result *result, const struct trace_sites *sites);

/* Adds the races of `sighted` to the set, except those whose places are also the places of a race
 * in the set.  `sighted` must outlive the set.  It may be NULL. */
void explore_put_sighted(struct finding_set *set, const struct finding_set *sighted);

#endif
