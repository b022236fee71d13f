/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Diagnosis of a program that fails only sometimes.  Runs the program until there are enough
 * failing and passing runs, and makes a sketch for each kind of failure (signature).
 * doc/design/sketch.md explains how the runs are made and when the diagnosis ends.
 */
#ifndef SKETCH_DIAGNOSE_H
#define SKETCH_DIAGNOSE_H

#include "trial/trial.h"
#include "facts/facts.h"
#include "sketch/sketch.h"

struct diagnose_progress {
	size_t runs, failing;
	const char *doing; /* such as "until it fails" or "with the order forced" */
};

struct diagnose { /* zero values are the defaults */
	struct replay_conditions runs;
	const char *fail_if;
	/* The failure that the user reported; NULL if there is none. */
	const struct sketch_failure *report;
	/* Largest number of runs of a phase; 0 for DIAGNOSE_RUNS. */
	uint64_t most;
	int64_t time_ns; /* time limit of the diagnosis; 0 for no limit */
	/* Number of runs of each intervention; 0 for DIAGNOSE_TRIES. */
	unsigned tries;
	bool no_intervention;

	const struct facts *facts; /* facts of the program, for slices; NULL if they are not known */
	void (*progress)(void *context, const struct diagnose_progress *p); /* may be NULL */
	void *context;
};
/* Default numbers of runs, chosen by hand.  If the program fails once in 80 times, about five of
 * 400 runs fail.  In the 20 runs of an intervention, an order of statements is forced or
 * prevented; one of these runs may contradict the result (sketch_is_confirmed()). */
enum { DIAGNOSE_RUNS = 400, DIAGNOSE_TRIES = 20 };

#define DIAGNOSE_SKETCHES 4 /* largest number of signatures that are explained */

struct diagnosis {
	struct sketch_runs runs[DIAGNOSE_SKETCHES]; /* the runs of each sketch */
	struct sketch_set set;
	size_t made, failed; /* number of runs that count, and how many of them failed */
	/* Number of runs that do not count, because they left their schedule or did not end. */
	size_t discarded;
	char *why; /* why the first discarded run does not count; may be NULL */
	/* Why the program cannot be tracked; NULL if it can, or if that was not tried. */
	char *untracked;
	bool interrupted; /* ended by a signal */
};

/* Runs the diagnosis.  The caller releases the result even after a failure. */
int diagnose_run(const struct diagnose *how, struct diagnosis *d);
void diagnosis_release(struct diagnosis *d);

#endif
