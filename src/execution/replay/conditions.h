/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conditions that all controlled runs of a program share: what is run, with which input, beside
 * which commands, and for how long.  Settling findings (replay/settle.h), trials (trial/trial.h)
 * and the procedures above them use the same structure.  Durations are in nanoseconds; base/clock.h
 * has constants for them.
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
	const char *companion, *setup; /* commands beside and before each run (run/companion.h) */
	int64_t limit_ns;	       /* the longest time of one run; 0: derived from the recorded run */
	int64_t recorded_ns;	       /* how long the recorded run took; 0: unknown */
	int64_t deadline_ns;	       /* a time of rd_now_ns() at which any run is ended; 0: never */
	bool no_world;		       /* what the recording got from outside is not replayed */
	struct trial_shared *shared;   /* what runs in other processes have shown (trial/trial.h); NULL:
					* each process learns for itself */
	bool kernel_threads;	       /* each thread of the program runs on a kernel thread of its own;
					* false: all share one in runs that are no evidence, if the
					* program allows it */
};

#endif
