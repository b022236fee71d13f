/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: where the threads of a run come to the two accesses of a race.  The threads take turns,
 * and the program stands at each access, so what is seen is the same in each run that goes this way.
 */
#ifndef CLASSIFY_SIGHTS_H
#define CLASSIFY_SIGHTS_H

#include "trial/trial.h"

/* An access that the program stood at. */
struct sight {
	const char *thread;
	uint64_t n, address, size;
	uint32_t site;
	bool write;
	bool at[2]; /* which of the two it is */
};

/* Whether the accesses of a site may be the first or the second of the race. */
typedef bool sights_at_fn(const void *context, const struct trace_site *site, uint32_t number, int which);

struct sights {
	const struct trace_sites *sites;
	sights_at_fn *at;
	const void *context;
	struct sight *items; /* in the order in which they came */
	size_t count, capacity;
	bool all; /* each access of a thread behind an operation, not only the first: slower by far */
	struct rd_arena *arena; /* of the names */
};

void sights_init(struct sights *s, const struct trace_sites *sites, sights_at_fn *at, const void *context);
void sights_release(struct sights *s);

/* How many sites the first or the second access has in the program. */
size_t sights_sites(const struct sights *s, int which);

/* Runs the program; 0 is the seed of the usual order of turns. */
int sights_gather(struct sights *s, struct trial_bench *b, uint64_t seed);

/* Whether two of them are a race: of two threads, of the same memory, one a write. */
bool sights_race(const struct sight *a, const struct sight *b);

/* A goal that leads to one of them, with texts of the schedule. */
struct schedule_goal sights_goal(const struct sights *s, const struct sight *at, struct schedule *texts);

#endif
