/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conditions that all controlled runs of a program share: what is run, with which input,
 * together with which commands, and for how long.  Settling findings (replay/settle.h), trials
 * (trial/trial.h) and the procedures above them use the same structure.  Durations are in
 * nanoseconds; base/clock.h has constants for them.
 */
#ifndef REPLAY_CONDITIONS_H
#define REPLAY_CONDITIONS_H

#include <stdbool.h>
#include <stdint.h>

struct replay_program;
struct trial_shared;
struct run_input;

struct replay_conditions { /* zero values are the defaults */
	const struct replay_program *program;
	const struct run_input *input; /* standard input of every run */
	/* a command that runs at the same time as each run, and one that runs before each run
	 * (run/companion.h) */
	const char *companion, *setup;
	/* how long one run may take; 0 to derive it from the recorded run */
	int64_t limit_ns;
	int64_t recorded_ns;	     /* how long the recorded run took, or 0 if unknown */
	int64_t deadline_ns;	     /* the time of rd_now_ns() at which any run is ended, or 0 for none */
	bool no_world;		     /* do not replay the recorded input from outside */
	struct trial_shared *shared; /* knowledge that processes share (trial/trial.h), or NULL */
	/* True if each thread of the program has its own kernel thread in all runs.  If false, all
	 * threads share one kernel thread in runs that are not used as evidence, provided that the
	 * program allows it. */
	bool kernel_threads;
	bool no_snapshots; /* each run is started anew, not copied from a frozen program */
};

#endif
