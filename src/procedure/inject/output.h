/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the output of a run with that of the fault-free run. */
#ifndef INJECT_OUTPUT_H
#define INJECT_OUTPUT_H

#include "run/output.h"

#include <stdbool.h>

struct inject_list;

struct inject_judge {
	const struct inject_list *ignore; /* patterns of names; "stdout" is standard output */
	const char *filter;		  /* the user's command that filters output, or NULL */
	bool errors;			  /* standard error is compared, too */
};

/* Returns true if the two outputs are equal in everything that matters.  Stores in *name the name
 * of the first output that differs ("stdout", "stderr" or the name of a file), or NULL if the
 * outputs are equal. */
bool inject_output_equal(const struct run_output *golden, const struct run_output *run,
			 const struct inject_judge *judge, const char **name);

/* Appends the difference as a unified diff of one hunk, of limited size. */
void inject_output_diff(const struct run_output *golden, const struct run_output *run, const char *name,
			struct rd_buf *diff);

#endif
