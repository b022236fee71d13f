/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside sketch/: decides what a diagnosis does next.  In: the runs made and the predictors found
 * until now.  Out: whether there are enough runs, how much of the slice to track, and which order
 * to force and prevent next.  Nothing is run here, so that every case can be tested with made-up
 * runs.
 *
 * σ is the number of statements of the slice that are tracked, nearest to the failure first.
 */
#ifndef SKETCH_CHOOSE_INT_H
#define SKETCH_CHOOSE_INT_H

#include "sketch/predictor.h"
#include "sketch/run.h"

/* Numbers of runs.  After five failing and thirty passing runs, the F-measure of predictors hardly
 * changes any more.  If 40 runs all fail, the program is assumed to fail always.  Tracked runs of
 * the unscheduled program are slow, so three failing ones are enough, and two more to find where a
 * value came from. */
enum {
	CHOOSE_FAILING = 5,
	CHOOSE_PASSING = 30,
	CHOOSE_ALL_ALIKE = 40,
	CHOOSE_PLAIN_FEW = 3,
	CHOOSE_PLAIN_MORE = 2,
	CHOOSE_PLAIN_MOST = 400, /* largest number of runs of the unscheduled program with one σ */
	/* If no run failed among this many, the program fails too rarely. */
	CHOOSE_PLAIN_NONE = 40,
	/* Largest number of statements that are tracked to find the origin of a value. */
	CHOOSE_PLAIN_WHOLE = 64,
	/* Number of passing runs with which the first failing run is compared. */
	CHOOSE_PLAIN_PASSING = 10,
	CHOOSE_INTERVENTIONS = 4, /* number of orders that are tried; each takes 40 runs */
};

struct choose_counts {
	size_t failing, passing; /* `failing` counts the failures with the signature */
};
struct choose_counts choose_count(const struct sketch_runs *runs, const char *signature);

/* Whether there are `enough` failing runs, and enough passing runs to compare them with. */
bool choose_has_enough(const struct sketch_runs *runs, const char *signature, size_t enough);

/* Whether the last run is not needed: it failed, but only passing runs are still needed. */
bool choose_is_needless(const struct sketch_runs *runs, const char *signature, size_t enough);

/* ---- statements ---- */

/* Sets the distances of statements if there is no slice.  The distance of a statement is the number
 * of statements between it and the end of failing runs. */
void choose_count_back(struct sketch_runs *runs, const char *signature);

/* Sets small distances for lock operations, because any of them may be the cause of a hang. */
void choose_bring_locks_near(struct sketch_runs *runs);

/* ---- predictors ---- */

/* Whether the best predictor distinguishes failing from passing runs. */
bool choose_is_good(const struct sketch_predictors *p);

/* Whether the best predictor states only that something had a certain value.  The failing statement
 * has some value in every failure, so more statements are tracked to find where it came from. */
bool choose_is_symptom(const struct sketch_predictors *p);

/* Makes predictors from the first σ = 2, 4, 8 ... statements, until an order is a good predictor or
 * all statements are used.  Returns σ. */
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
	bool found;    /* whether a predictor distinguishes failing from passing runs */
};
struct choose_track choose_track_begin(void);

/* The number of failing runs that the next σ needs. */
size_t choose_track_enough(const struct choose_track *t);

/* Whether run n of a σ, counted from 0, should be made, if `failing` of the earlier runs failed. */
bool choose_track_runs(uint64_t n, size_t failing);

/* Whether the runs of a σ are to be made again with delays.  To be called after these runs. */
bool choose_track_delays(struct choose_track *t, struct choose_counts c);

/* Whether there are enough runs of a σ to compare failing and passing ones. */
bool choose_track_says(struct choose_counts c);

/* Notes how good the predictors of a σ are.  The slice has `all` statements.  Returns false if
 * tracking ends. */
bool choose_track_next(struct choose_track *t, struct choose_counts c, const struct sketch_predictors *p,
		       uint32_t all);

/* ---- interventions ---- */

/* The next order to try after `count` orders; NULL if no order is worth a try.  `tried` is indexed
 * by predictor.  `cause` is a confirmed order, or NULL. */
struct sketch_predictor *choose_order(struct sketch_predictors *p, const struct sketch_predictor *cause,
				      const bool *tried, unsigned count);

/* Whether the last run of `runs` has the order.  The order refers to statements of the runs
 * `of`. */
bool choose_has_order(const struct sketch_runs *runs, const struct sketch_runs *of,
		      const struct sketch_predictor *order);

#endif
