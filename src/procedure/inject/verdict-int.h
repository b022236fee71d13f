/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict about a run with a fault.  It consists of the outcome and the deviation.  The
 * outcome depends on how the run ended and on its output.  The deviation is the first difference
 * between the records of the run and those of the golden (fault-free) run. */
#ifndef INJECT_VERDICT_INT_H
#define INJECT_VERDICT_INT_H

#include "inject/golden.h"
#include "inject/log.h"

struct inject_case {
	const struct inject_golden *golden;
	const struct inject_setup *setup;
	const struct inject_fault *fault;
	const struct inject_run *run;
};

/* Sets the outcome and the place of a crash.  Stores in *differs the name of the output that
 * differs, or NULL if none does. */
void inject_verdict_outcome(const struct inject_case *c, struct inject_verdict *verdict,
			    const char **differs);

/* Compares the records with those of the golden run, and sets the members about the deviation. */
int inject_verdict_compare(const struct inject_case *c, struct inject_verdict *verdict);

#endif
