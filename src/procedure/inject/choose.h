/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the fault of each run of a campaign.  The choice depends only on the setup, the number
 * of the run, and the census of the fault-free run (how often each thread executed each site).
 * Any process can therefore choose the fault of any run, in any order, and gets the same fault
 * each time.
 */
#ifndef INJECT_CHOOSE_H
#define INJECT_CHOOSE_H

#include "inject/census.h"
#include "inject/kind.h"
#include "inject/setup.h"

/* Bytes of a thread's name.  RUN_FAULT_DEPTH numbers of at most 20 digits, with separators, take
 * 1344. */
#define INJECT_THREAD_NAME 1536

struct inject_fault {
	uint64_t run;
	size_t kind;
	char thread[INJECT_THREAD_NAME]; /* the thread of all its faults */
	struct run_fault faults[INJECT_FAULTS_MAX];
	size_t count;
	const char *stratum; /* the stratum from which it was drawn; NULL if sampling is uniform */
	uint64_t population; /* number of executions in the stratum */
};

/* The input of the choice, which must outlive the chooser. */
struct inject_ground {
	const struct inject_setup *setup;
	const struct inject_census *census;
	const struct trace_sites *sites;
	struct trace *trace; /* the fault-free run and its layout; needed only for windows */
	const struct trace_layout *layout;
};

struct inject_chooser;
/* Opens a chooser.  Each kind in the setup must apply to at least one execution (inject_fits()). */
int inject_chooser_open(struct inject_chooser **c, const struct inject_ground *ground);
void inject_chooser_close(struct inject_chooser *c);

/* Returns the number of runs.  Runs are numbered from 0. */
uint64_t inject_chooser_runs(const struct inject_chooser *c);
int inject_choose(struct inject_chooser *c, uint64_t run, struct inject_fault *fault);

/* The number of sites to which a kind applies, and the number of executions of these sites.  Only
 * places that the setup allows are counted. */
struct inject_fit {
	uint64_t sites, instances;
};
struct inject_fit inject_fits(const struct inject_ground *ground, size_t kind);

/* Sets the thread of a fault by its name.  Returns false if `name` is not the name of a thread. */
bool inject_thread_parse(struct run_fault *f, const char *name);

#endif
