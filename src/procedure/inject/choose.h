/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the fault of each run of a campaign.  The choice depends only on the setup, the census of
 * the fault-free run and the number of the run.  So any process can make it for any run, in any
 * order and repeatedly.
 */
#ifndef INJECT_CHOOSE_H
#define INJECT_CHOOSE_H

#include "inject/census.h"
#include "inject/kind.h"
#include "inject/setup.h"

/* Bytes of a thread's name: RUN_FAULT_DEPTH numbers of at most 20 digits with separators are
 * 1344. */
#define INJECT_THREAD_NAME 1536

struct inject_fault {
	uint64_t run;
	size_t kind;
	char thread[INJECT_THREAD_NAME]; /* of all its faults */
	struct run_fault faults[INJECT_FAULTS_MAX];
	size_t count;
	const char *stratum; /* from which it was drawn; NULL: sampling is uniform */
	uint64_t population; /* executions in the stratum */
};

/* The input of the choice; it must outlive the chooser. */
struct inject_ground {
	const struct inject_setup *setup;
	const struct inject_census *census;
	const struct trace_sites *sites;
	struct trace *trace; /* of the fault-free run, and its layout; only for windows */
	const struct trace_layout *layout;
};

struct inject_chooser;
/* Each of `kinds` of the setup must apply somewhere; see inject_fits(). */
int inject_chooser_open(struct inject_chooser **c, const struct inject_ground *ground);
void inject_chooser_close(struct inject_chooser *c);

uint64_t inject_chooser_runs(const struct inject_chooser *c); /* numbered from 0 */
int inject_choose(struct inject_chooser *c, uint64_t run, struct inject_fault *fault);

/* How many sites, and executions of them, the kind applies to within the setup's filter. */
struct inject_fit {
	uint64_t sites, instances;
};
struct inject_fit inject_fits(const struct inject_ground *ground, size_t kind);

/* Sets the thread of a fault by its name; false if it is not a name. */
bool inject_thread_parse(struct run_fault *f, const char *name);

#endif
