/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: finds other paths through the program that lead to the same race.  Runs that
 * track how the program uses its input yield new inputs, each of which flips one branch.  If a run
 * with such an input follows the schedule up to the race, its path is a *primary*.  The race is
 * classified for each primary in the same way as for the recorded path.
 */
#ifndef CLASSIFY_PATHS_INT_H
#define CLASSIFY_PATHS_INT_H

#include "classify/classify.h"
#include "trial/trial.h"
#include "symbolic/choose.h"

struct paths {
	struct trial_bench *bench;
	const struct schedule *race;
	const struct replay_program *shadow;
	const struct sym_selection *wishes;
	const struct rd_override *base; /* the input of the first primary */
	unsigned most;			/* maximum number of primaries, including the first */
	uint64_t last_run; /* when the bench has made this many runs, no further input is tried */

	/* Sets whether threads of the next runs also stop at accesses to bytes that they accessed before. */
	void (*lead_again)(void *context, bool again);
	/* Analyses the race with the bench's input.  Sets *bad if no other input is needed. */
	int (*analyse)(void *context, const struct rd_override *given, bool *bad);
	void *context;

	/* The following members are results. */
	unsigned primaries;    /* including the first */
	unsigned discarded;    /* number of inputs with which the schedule did not reach the race */
	struct rd_buf dropped; /* a line for each of the first few: the input, and why it was dropped */
	/* number of questions to the solver, and of those without an answer */
	uint64_t queries, unknown;
	uint64_t solver_work;  /* what the questions cost, in steps of the solver */
	double solver_seconds; /* the same in processor time, for a statistic */
	struct rd_buf covered; /* a line for each primary about the inputs that take its path */
	uint64_t lost[RADDLE_LOSSES];
	/* number of primaries (paths to the race) for which the solver proved that both orders of
	 * the race write the same output, for every input that leads to the path */
	unsigned equal;
	bool cut;     /* a limit was reached before all inputs were tried */
	bool depends; /* some branch depends on input */
	bool no_solver;
};

int paths_explore(struct paths *p);
void paths_release(struct paths *p);

#endif
