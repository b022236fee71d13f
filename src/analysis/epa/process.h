/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the processes of two runs: the program and the processes that it forked.  The trace of a
 * forked process lies inside that of its parent.
 */
#ifndef EPA_PROCESS_H
#define EPA_PROCESS_H

#include "epa/compare.h"

/* A process that both runs have.  Its name is that of its parent, followed by the number of the
 * fork, for example P_0_1 for a child of P_0.
 */
struct epa_process {
	const char *name, *golden, *run; /* `golden` and `run` are paths of traces */
	const struct epa_reference *reference;
	bool forked;
};

/* Called after each comparison.  If it returns an error, no further process is compared. */
typedef int epa_process_fn(void *context, const struct epa_process *p, const struct epa_comparison *c);

/* Compares the trace `run` with the trace `golden` of the reference run.  Then compares the forked
 * processes that both runs have.  A process that only one run has causes a warning.  If a trace is
 * damaged, its readable part is compared, and an error is returned. */
int epa_compare_processes(const char *golden, const struct epa_reference *reference, const char *run,
			  const struct epa_compare_options *how, epa_process_fn *each, void *context);

#endif
