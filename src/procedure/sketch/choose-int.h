/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside sketch/: decides what a diagnosis does next.  From the runs and predictors so far, these
 * functions decide whether there are enough runs, how much of the slice to track, and which order
 * to force and prevent next.  They run nothing, so that every case can be tested with made-up
 * runs.
 *
 * σ is the number of statements of the slice that are tracked, nearest to the failure first.
 */
#ifndef SKETCH_CHOOSE_INT_H
#define SKETCH_CHOOSE_INT_H

#include "sketch/predictor.h"
#include "sketch/run.h"

/* Numbers of runs that are needed.  After five failing and thirty passing runs, the F-measure of
 * predictors hardly changes any more.  If the first 40 runs all fail, the program is assumed to
 * fail always.  Tracked runs of a program without a schedule are slow, so three failing runs must
 * be enough.  Two more are made to find where a value came from. */
enum {
	CHOOSE_FAILING = 5,
	CHOOSE_PASSING = 30,
	CHOOSE_ALL_ALIKE = 40,
	CHOOSE_PLAIN_FEW = 3,
	CHOOSE_PLAIN_MORE = 2,
	CHOOSE_PLAIN_MOST = 400, /* largest number of runs of the unscheduled program with one σ */
	/* If none of this many runs failed, the program fails too rarely. */
	CHOOSE_PLAIN_NONE = 40,
	/* Largest number of statements that are tracked to find the origin of a value. */
	CHOOSE_PLAIN_WHOLE = 64,
	/* Number of passing runs with which the first failing run is compared. */
	CHOOSE_PLAIN_PASSING = 10,
	CHOOSE_INTERVENTIONS = 4, /* number of orders that are tried; each takes 40 runs */
};

struct choose_counts {
	size_t failing, passing; /* `failing` counts only failures with the given signature */
};
struct choose_counts choose_count(const struct sketch_runs *runs, const char *signature);

/* Returns true if there are `enough` failing runs, and enough passing runs to compare them with. */
bool choose_has_enough(const struct sketch_runs *runs, const char *signature, size_t enough);

/* Returns true if the last run is not needed, because it failed and only passing runs are still
 * needed. */
bool choose_is_needless(const struct sketch_runs *runs, const char *signature, size_t enough);

/* ---- statements ---- */

/* Sets the distances of statements if there is no slice.  In a failing run, the distance of a
 * statement is the number of different statements that are executed between its last execution and
 * the end of the run.  The smallest distance over all failing runs is used. */
void choose_count_back(struct sketch_runs *runs, const char *signature);

/* Gives lock operations small distances, because any of them may be the cause of a hang. */
void choose_bring_locks_near(struct sketch_runs *runs);

/* ---- predictors ---- */

/* Returns true if the best predictor distinguishes failing from passing runs. */
bool choose_is_good(const struct sketch_predictors *p);

/* Returns true if the best predictor states only that something had a certain value.  The failing
 * statement has some value in every failure, so such a predictor explains little, and more
 * statements must be tracked to find where the value came from. */
bool choose_is_symptom(const struct sketch_predictors *p);

/* Makes predictors from the first σ = 2, 4, 8 ... statements of the slice.  Stops when an order is
 * a good predictor, or when all statements are used.  Returns σ. */
uint32_t choose_predict(const struct sketch_runs *runs, const char *signature, struct sketch_predictors *p);

/* ---- the unscheduled program ---- */

/* The state of tracking.  choose_track_begin() returns the initial state. */
struct choose_track {
	uint32_t sigma; /* number of statements that the next runs track */
	/* Number of statements that were enough for a predictor; 0 if no predictor has been found
	 * yet. */
	uint32_t near;
	size_t before; /* number of failing runs that were used with a smaller σ */
	bool delays;   /* threads are delayed at random, because no run failed without delays */
	bool found;    /* true if a predictor distinguishes failing from passing runs */
};
struct choose_track choose_track_begin(void);

/* Returns the number of failing runs that the next σ needs. */
size_t choose_track_enough(const struct choose_track *t);

/* Returns true if run number n with the current σ should be made.  Runs are counted from 0;
 * `failing` is the number of earlier runs that failed. */
bool choose_track_runs(uint64_t n, size_t failing);

/* Call this after the runs with one σ.  Returns true if they should be made again with delays. */
bool choose_track_delays(struct choose_track *t, struct choose_counts c);

/* Returns true if there are enough runs with this σ to compare failing runs with passing ones. */
bool choose_track_says(struct choose_counts c);

/* Updates the state from the predictors that were found with the current σ, and chooses the next σ.
 * `all` is the number of statements in the slice.  Returns false if tracking ends. */
bool choose_track_next(struct choose_track *t, struct choose_counts c, const struct sketch_predictors *p,
		       uint32_t all);

/* ---- interventions ---- */

/* Returns the next order to force and prevent, or NULL if no order is worth a try.  `tried` tells
 * for each predictor whether it was tried, and `count` is the number of orders tried so far.
 * `cause` is an order that was confirmed to be a cause, or NULL. */
struct sketch_predictor *choose_order(struct sketch_predictors *p, const struct sketch_predictor *cause,
				      const bool *tried, unsigned count);

/* Returns true if the order happened in the last run of `runs`.  The statements of `order` are
 * numbered as in the runs `of`. */
bool choose_has_order(const struct sketch_runs *runs, const struct sketch_runs *of,
		      const struct sketch_predictor *order);

#endif
