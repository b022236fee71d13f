/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes runs in which the threads take turns (trial/trial.h), for failure sketches.  Each access
 * and each operation of such a run is recorded, with values, in the order in which they happened.
 * In some runs an order of statements is forced or prevented.
 *
 * Such runs are used if the program rarely fails by itself, because here a strategy can choose
 * schedules that make it fail.  They are also used for interventions, because the scheduler decides
 * which thread runs.
 */
#ifndef SKETCH_TURNS_INT_H
#define SKETCH_TURNS_INT_H

#include "trial/trial.h"
#include "sketch/caller-int.h"
#include "sketch/outcome.h"
#include "sketch/place.h"
#include "sketch/predictor.h"
#include "sketch/verdict-int.h"

/* Number of threads that are followed; threads created later are ignored.  Chosen by hand to bound
 * memory. */
#define TURNS_THREADS 256

/* What a run does with an order of statements: it only observes it, forces it, or prevents it. */
enum turns_intervention { TURNS_WATCH, TURNS_FORCE, TURNS_PREVENT };

struct sketch_turns {
	struct trial_bench bench;
	struct sketch_runs *runs;
	const struct trace_sites *sites;
	struct judge *judge;   /* the user's command that judges runs */
	bool blind;	       /* the program is not stopped, because only its end is of interest */
	const uint32_t *watch; /* sites at which the program is stopped; NULL for all */
	size_t watch_count;
	/* The decisions of a run that failed without being watched; NULL if no such run is known.
	 * Every second run begins with these decisions.  Such runs fail more often, and those that
	 * pass show more than runs that were never near a failure. */
	const struct schedule *near;
	struct sketch_places places; /* a cache of the places of crashes and calls */
	struct caller *callers;	     /* callers of code in headers; NULL if unknown */
	/* By number, the canonical names of the threads of the last run, which the bench owns; NULL if
	 * the caller does not need them. */
	const char **names;
	uint64_t extent; /* how long the last run was, in points (replay/board-int.h) */
};

struct turns_order {
	enum turns_intervention intervention;
	/* The order; unused if the intervention is TURNS_WATCH. */
	const struct sketch_predictor *order;
	const struct sketch_runs *of; /* the runs to whose statements the order refers */
};

/* Makes run number `number` of a diagnosis and adds it to the runs, unless the run has to be
 * ignored.  In that case, stores the reason in *why; it is valid until the next run.  Otherwise
 * sets *why to NULL.  The caller must release the failure, if there is one. */
int turns_run(struct sketch_turns *l, uint64_t number, const struct turns_order *order,
	      struct sketch_failure *failure, const char **why);

/* Like turns_run(), but the run follows the schedule.  `seed` decides where an order is forced. */
int turns_follow(struct sketch_turns *l, const struct schedule *s, const struct turns_order *order,
		 uint64_t seed, struct sketch_failure *failure, const char **why);

#endif
