/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of two runs, compared: the program and what it forked.  Their traces lie inside one another.
 */
#ifndef EPA_PROCESS_H
#define EPA_PROCESS_H

#include "epa/compare.h"

/* A process of both runs.  Its name is that of the process that forked it, and which fork it was: P_0, P_0_1.
 */
struct epa_process {
	const char *name, *golden, *run; /* golden, run: traces */
	const struct epa_reference *reference;
	bool forked;
};

/* Called for each comparison; an error ends the rest. */
typedef int epa_process_fn(void *context, const struct epa_process *p, const struct epa_comparison *c);

/* Compares the trace `run` with `golden`, the trace of the reference, and then the forked processes
 * that both have.  A process that only one run has causes a warning.  A damaged trace is compared
 * as far as it can be read; then an error is returned. */
int epa_compare_processes(const char *golden, const struct epa_reference *reference, const char *run,
			  const struct epa_compare_options *how, epa_process_fn *each, void *context);

#endif
