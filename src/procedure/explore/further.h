/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which schedules a check records after its first runs, and when to stop.  Schedules in
 * which exploration saw an unknown race come first.  Other schedules follow, until several
 * consecutive ones have shown nothing new.
 */
#ifndef EXPLORE_FURTHER_H
#define EXPLORE_FURTHER_H

#include "explore/explore.h"

/* The exploration of a check ends when it has found nothing new for this many points.  A point is
 * a place at which another thread may continue.  This many points take about half a second of
 * processor time, in which a short program runs under 500 schedules.  The number was set by hand.
 * It is smaller than SETTLED_LEAST in explore/next.c, because a check has already analysed
 * recorded runs. */
#define FURTHER_QUIET 1000000

struct further {
	struct explore_racy *racy; /* the schedules that further_choose() chose */
	size_t racy_count, at;	   /* their number, and the index of the next one */
	uint64_t most;		   /* extent at which runs of other schedules are ended, or 0 for no limit */
	uint64_t runs;		   /* number of recorded runs */
	uint64_t fresh;		   /* number of new findings from these runs */
	/* number of consecutive runs that showed nothing new and were not chosen for a race */
	int fruitless;
};

void further_release(struct further *f);

/* Chooses the schedules to be recorded: first those with races that are not yet confirmed in the
 * set, then others that showed something new. */
void further_choose(struct further *f, const struct explore_result *explored, const struct finding_set *set,
		    const struct trace_sites *sites);

/* Stores the schedule to be recorded next.  Returns false if enough were recorded. */
bool further_next(const struct further *f, struct explore_racy *which);

/* Called when the schedule from further_next() has been recorded.  `any` is true if it led to
 * something new. */
void further_took(struct further *f, bool any);

#endif
