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
	uint64_t n, address, size; /* n: operations of the thread before it */
	uint32_t site;
	bool write;
	bool at[2]; /* whether it may be the first, and the second, access of the race */
};

/* Whether the accesses of a site may be the first or the second of the race. */
typedef bool occurrences_at_fn(const void *context, const struct trace_site *site, uint32_t number,
			       int which);

struct occurrences {
	const struct trace_sites *sites;
	occurrences_at_fn *at;
	const void *context;
	struct occurrence *items; /* in the order of the run */
	size_t count, capacity;
	bool all; /* each access of a thread, not only the first after each operation: much slower */
	struct rd_arena *arena; /* owns the names */
};

void occurrences_init(struct occurrences *s, const struct trace_sites *sites, occurrences_at_fn *at,
		      const void *context);
void occurrences_release(struct occurrences *s);

/* How many sites of the program may be the first access (`which` 0) or the second (1). */
size_t occurrences_sites(const struct occurrences *s, int which);

/* Runs the program and collects the occurrences.  Seed 0 is the usual order of turns. */
int occurrences_gather(struct occurrences *s, struct trial_bench *b, uint64_t seed);

/* Whether two of them are a race: by two threads, to the same memory, at least one a write. */
bool occurrences_race(const struct occurrence *a, const struct occurrence *b);

/* A goal that leads to one of them; the schedule `texts` owns its strings. */
struct schedule_goal occurrences_goal(const struct occurrences *s, const struct occurrence *at,
				      struct schedule *texts);

#endif
