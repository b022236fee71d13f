/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Diagnosis.  In: a program that fails now and then.  It is run until there are enough failing and
 * passing runs.  Out: sketches, one for each failure signature.  doc/design/sketch.md explains how
 * the runs are made and when the diagnosis ends.
 */
#ifndef SKETCH_DIAGNOSE_H
#define SKETCH_DIAGNOSE_H

#include "trial/trial.h"
#include "facts/facts.h"
#include "sketch/sketch.h"

struct diagnose_progress {
	size_t runs, failing;
	const char *doing; /* "runs", "forced and prevented" */
};

struct diagnose { /* zero values are the defaults */
	struct replay_conditions runs;
	const char *fail_if;
	const struct sketch_failure *report; /* the failure that the user reported; NULL: none */
	uint64_t most;			     /* runs; 0: DIAGNOSE_RUNS */
	int64_t time_ns;		     /* that all of it may take; 0: any */
	unsigned tries;			     /* runs of each intervention; 0: DIAGNOSE_TRIES */
	bool no_intervention;

	const struct facts *facts; /* of the program, for slices; NULL: none, distances are counted in runs */
	void (*progress)(void *context, const struct diagnose_progress *p); /* may be NULL */
	void *context;
};
/* Runs, unless the user states a number.  Judgements: of 400 runs, five fail if the program fails once in 80
 * times; of 20 tries of an intervention one may disagree (sketch_is_confirmed()). */
enum { DIAGNOSE_RUNS = 400, DIAGNOSE_TRIES = 20 };

#define DIAGNOSE_SKETCHES 4 /* signatures that are explained */

struct diagnosis {
	struct sketch_runs runs[DIAGNOSE_SKETCHES]; /* those of each sketch */
	struct sketch_set set;
	size_t made, failed; /* runs that say something */
	size_t discarded;    /* runs that left their schedule or did not end: they are not counted, */
	char *why;	     /* the first of them; NULL */
	char *untracked; /* why the program cannot be tracked as it is; NULL: it can, or that was not tried */
	bool interrupted; /* by a signal */
};

/* Release it even after a failure. */
int diagnose_run(const struct diagnose *how, struct diagnosis *d);
void diagnosis_release(struct diagnosis *d);

#endif
