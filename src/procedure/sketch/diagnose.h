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
	const char *doing; /* "until it fails", "with the order forced" */
};

struct diagnose { /* zero values are the defaults */
	struct replay_conditions runs;
	const char *fail_if;
	const struct sketch_failure *report; /* the failure that the user reported; NULL: none */
	uint64_t most;			     /* most runs of a phase; 0: DIAGNOSE_RUNS */
	int64_t time_ns;		     /* time limit of the diagnosis; 0: none */
	unsigned tries;			     /* runs of each intervention; 0: DIAGNOSE_TRIES */
	bool no_intervention;

	const struct facts *facts; /* of the program, for slices; NULL: there are no slices */
	void (*progress)(void *context, const struct diagnose_progress *p); /* may be NULL */
	void *context;
};
/* Numbers of runs, unless the user states them.  Judgements: of 400 runs, five fail if the program
 * fails once in 80 times; of 20 tries of an intervention one may disagree
 * (sketch_is_confirmed()). */
enum { DIAGNOSE_RUNS = 400, DIAGNOSE_TRIES = 20 };

#define DIAGNOSE_SKETCHES 4 /* most signatures that are explained */

struct diagnosis {
	struct sketch_runs runs[DIAGNOSE_SKETCHES]; /* of each sketch */
	struct sketch_set set;
	size_t made, failed; /* runs that count, and how many of them failed */
	size_t discarded;    /* runs that do not count: they left their schedule or did not end, */
	char *why;	     /* and the reason for the first of them; may be NULL */
	char *untracked;     /* why the program cannot be tracked; NULL: it can, or that was not tried */
	bool interrupted;    /* by a signal */
};

/* Release it even after a failure. */
int diagnose_run(const struct diagnose *how, struct diagnosis *d);
void diagnosis_release(struct diagnosis *d);

#endif
