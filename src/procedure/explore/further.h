/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which schedules a check records after its first runs, and when there are enough.  First
 * come schedules in which exploration saw an unknown race, then others, until several in a row have
 * brought nothing new.
 */
#ifndef EXPLORE_FURTHER_H
#define EXPLORE_FURTHER_H

#include "explore/explore.h"

/* The exploration may end for lack of news only after this many schedules.  Set by hand: fewer than
 * SETTLED_LEAST in explore/next.c, since recorded runs have been analysed already. */
#define FURTHER_LEAST 1000

struct further {
	struct explore_racy *racy; /* schedules of exploration with a race that was not recorded yet */
	size_t racy_count, at;	   /* how many, and which one is next */
	uint64_t most;		   /* extent at which a run of unknown length is ended; 0: any */
	uint64_t runs;		   /* that were recorded */
	uint64_t fresh;		   /* findings that they brought */
	int fruitless;		   /* runs in a row that brought nothing */
};

void further_release(struct further *f);

/* Chooses schedules with races that the set does not know, then others that showed something new. */
void further_choose(struct further *f, const struct explore_result *explored, const struct finding_set *set,
		    const struct trace_sites *sites);

/* The schedule to be recorded next; false: it is enough. */
bool further_next(const struct further *f, struct explore_racy *which);

/* It was recorded, and brought something or not. */
void further_took(struct further *f, bool any);

#endif
