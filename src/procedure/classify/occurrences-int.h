/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: where the threads of a run reach the two accesses of a race.  The threads take
 * turns, and the program is stopped at each access, so every run with the same schedule gives the
 * same result.
 */
#ifndef CLASSIFY_OCCURRENCES_INT_H
#define CLASSIFY_OCCURRENCES_INT_H

#include "trial/trial.h"

/* An access at which the program was stopped. */
struct occurrence {
	const char *thread;
	/* `n` is the number of operations of the thread before the access */
	uint64_t n, address, size;
	uint32_t site;
	bool write;
	bool at[2]; /* whether it may be the first, and the second, access of the race */
};

/* Whether accesses at a site may be the first (`which` 0) or the second (1) access of the race. */
typedef bool occurrences_at_fn(const void *context, const struct trace_site *site, uint32_t number,
			       int which);

struct occurrences {
	const struct trace_sites *sites;
	occurrences_at_fn *at;
	const void *context;
	struct occurrence *items; /* in the order of the run */
	size_t count, capacity;
	/* stop at each access of a thread, not only at the first after each operation; much
	 * slower */
	bool all;
	struct rd_arena *arena; /* owns the names */
};

void occurrences_init(struct occurrences *s, const struct trace_sites *sites, occurrences_at_fn *at,
		      const void *context);
void occurrences_release(struct occurrences *s);

/* How many sites of the program may be the first access (`which` 0) or the second (1). */
size_t occurrences_sites(const struct occurrences *s, int which);

/* Runs the program and collects the occurrences.  With seed 0 the default thread runs next at each
 * point. */
int occurrences_gather(struct occurrences *s, struct trial_bench *b, uint64_t seed);

/* Whether two occurrences are a race: by two threads, to the same memory, and at least one is a
 * write. */
bool occurrences_race(const struct occurrence *a, const struct occurrence *b);

/* A goal that leads to an occurrence; the schedule `texts` owns its strings. */
struct schedule_goal occurrences_goal(const struct occurrences *s, const struct occurrence *at,
				      struct schedule *texts);

#endif
