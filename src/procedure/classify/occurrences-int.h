/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: finds out where the threads of a run reach the two accesses of a race.  The
 * threads take turns, so all runs with the same schedule have the same result.
 */
#ifndef CLASSIFY_OCCURRENCES_INT_H
#define CLASSIFY_OCCURRENCES_INT_H

#include "trial/trial.h"

/* An access that the program made.  Threads with the same name have the same pointer. */
struct occurrence {
	const char *thread;
	/* `n` is the number of operations of the thread before the access */
	uint64_t n, address, size;
	uint32_t site;
	bool write;
	bool at[2]; /* at[0]: it may be the race's first access; at[1]: it may be the second */
};

/* Returns true if an access at this site may be the first access of the race (for `which` = 0) or
 * the second access (for `which` = 1). */
typedef bool occurrences_at_fn(const void *context, const struct trace_site *site, uint32_t number,
			       int which);

struct occurrences {
	const struct trace_sites *sites;
	occurrences_at_fn *at;
	const void *context;
	struct occurrence *items; /* in the order of the run */
	size_t count, capacity;
	/* if set, every access of a thread counts, not only its first access after each operation */
	bool all;
	struct rd_arena *arena; /* owns the names */
};

void occurrences_init(struct occurrences *s, const struct trace_sites *sites, occurrences_at_fn *at,
		      const void *context);
void occurrences_release(struct occurrences *s);

/* Returns the number of sites in the program that may be the site of the first access of the race
 * (for `which` = 0) or of the second access (for `which` = 1). */
size_t occurrences_sites(const struct occurrences *s, int which);

/* Runs the program and collects the occurrences.  With seed 0 the default thread runs next at each
 * point. */
int occurrences_gather(struct occurrences *s, struct trial_bench *b, uint64_t seed);

/* Returns true if the two occurrences race: they belong to different threads and touch the same
 * memory, and at least one of them is a write. */
bool occurrences_race(const struct occurrence *a, const struct occurrence *b);

/* Returns a goal that leads to an occurrence; the schedule `texts` owns its strings. */
struct schedule_goal occurrences_goal(const struct occurrences *s, const struct occurrence *at,
				      struct schedule *texts);

#endif
