/* SPDX-License-Identifier: Apache-2.0 */
/* The fault-free run that all others are compared with: DIR/golden/trace, and its output in
 * DIR/golden. */
#ifndef INJECT_GOLDEN_H
#define INJECT_GOLDEN_H

#include "epa/compare.h"
#include "inject/census.h"
#include "inject/run.h"

struct inject_golden {
	struct trace *trace;
	struct trace_layout *layout;
	struct inject_census census;
	struct run_output output;
	struct epa_source *source;
	struct epa_reference *reference;
};

/* Loads the golden run once, for all other runs.  The caller must release it even after a
 * failure. */
int inject_golden_load(struct inject_golden *g, const char *directory);
void inject_golden_release(struct inject_golden *g);

/* Compares the records of a run with those of the golden run.  `options` may be NULL.  The caller
 * must release *result even after a failure. */
int inject_golden_compare(const struct inject_golden *g, const struct inject_raw *raw,
			  const struct epa_compare_options *options, struct epa_comparison *result);

/* Runs the program setup->golden_runs times without a fault, and writes the first run to
 * `directory`.  Stores the facts about these runs in the setup, and sets each limit of the setup
 * that is 0.  If the runs differ, this is an error or, if `force` is set, a warning. */
int inject_golden_make(const char *directory, struct inject_setup *setup, const struct run_program *program,
		       bool force);

/* A trace to be written: `directory` is the directory of the trace, and `sites` is the path of the
 * site table. */
struct inject_trace {
	const char *directory, *sites;
	const struct inject_target *target;
	const struct inject_run *run;
};
/* Writes the records of the run as a trace. */
int inject_trace_write(const struct inject_trace *t);

#endif
