/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The census of a fault-free run: how often each thread executed each site at which a fault can
 * strike.
 *
 * Threads are ordered by name and entries by thread and site, so the census of a
 * pseudo-deterministic program does not depend on the schedule.
 */
#ifndef INJECT_CENSUS_H
#define INJECT_CENSUS_H

#include "epa/walk.h"

struct inject_entry {
	uint32_t thread; /* index of `names` */
	uint32_t site;
	uint64_t count;
};

struct inject_census {
	char **names;	 /* names of the threads: T_0, T_0_0, ... */
	size_t *streams; /* by thread: the index of its stream in the trace */
	size_t thread_count;
	struct inject_entry *entries;
	size_t entry_count, capacity;
	uint64_t records; /* number of records of the trace, without the records of values */
	uint64_t forks;	  /* number of processes that the program created */
};

/* Counts the executions in a trace.  `source` must be a source of the same trace. */
int inject_census_take(struct inject_census *c, struct epa_source *source, struct trace *trace,
		       const struct trace_layout *layout);
void inject_census_release(struct inject_census *c);

/* Returns true if a fault can strike at the record.  This is so for records of values, arguments
 * and calls, and for loads and results whose size allows a change. */
bool inject_census_counts(const struct trace_record *r);

/* Writes the place of a site, as "file:line:column function". */
void inject_where(const struct trace_sites *sites, uint32_t site, char *out, size_t size);

#endif
