/* SPDX-License-Identifier: Apache-2.0 */
/* Races that the detector saw in explored schedules, as findings. */
#ifndef EXPLORE_SIGHTED_H
#define EXPLORE_SIGHTED_H

#include "explore/explore.h"

/* Each pair of sites as an unconfirmed race; the sites are those of the flavour that was explored. */
struct finding_set *explore_sighted(const struct explore_result *result, const struct trace_sites *sites);

/* Adds those that no race of the set is about; `sighted` lives as long as the set, or is NULL. */
void explore_put_sighted(struct finding_set *set, const struct finding_set *sighted);

#endif
