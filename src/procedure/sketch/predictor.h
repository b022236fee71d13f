/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failure predictors: predicates that are true in a larger share of the failing runs than of the
 * passing runs.  In: runs.  Out: predicates with their counts, the best one first.
 * doc/design/sketch.md defines them.
 *
 * A predicate is either true or false in a run.  There are predicates about orders, values and
 * branches.  Orders concern accesses of different threads to the same memory.  Values and branches
 * concern one statement, so they also explain failures of single-threaded programs.
 */
#ifndef SKETCH_PREDICTOR_H
#define SKETCH_PREDICTOR_H

#include "sketch/run.h"

enum sketch_type { SKETCH_ORDER, SKETCH_VALUE, SKETCH_BRANCHES };

enum sketch_pattern {
	/* RWR to WRW: two accesses of one thread, and between them one of another thread */
	SKETCH_RWR,
	SKETCH_WWR,
	SKETCH_RWW,
	SKETCH_WRW,
	SKETCH_WW, /* WW and WR: two accesses of different threads */
	SKETCH_WR,
	SKETCH_RW, /* two accesses of different threads, even if the run ended before the write */
	/* "LLL": one thread took a lock, another thread took a second lock, and the first thread
	 * then tries to take the second lock. */
	SKETCH_HOLD,
	/* The last read of the first statement came before the last write of the second. */
	SKETCH_RW_LAST,
	SKETCH_EQUALS,
	SKETCH_DIFFERS, /* the value differs from 0; for 8-byte values, which may be pointers */
	SKETCH_TAKES,
	SKETCH_NEVER, /* the run reached the branch, which never took this direction */
	SKETCH_PATTERNS,
};

struct sketch_tries {
	unsigned runs, failed;
};

struct sketch_predictor {
	enum sketch_type type;
	enum sketch_pattern pattern;
	uint32_t statements[3];	 /* numbers of the statements, in the order in which they happen */
	size_t count;		 /* number of statements */
	uint64_t value;		 /* for values and branches */
	size_t failing, passing; /* numbers of runs in which it is true */
	size_t all_failing, all_passing;
	/* `bound` is the lower end of Wilson's interval for the precision. */
	double precision, recall, f, bound;
	uint32_t distance; /* distance of its nearest statement from the failure */
	/* For orders: the index of the event, in a failing run, at which the predicate became
	 * true.  SIZE_MAX if unknown. */
	size_t when;
	struct sketch_tries forced, prevented;
};

struct sketch_predictors {
	struct sketch_predictor *items;
	size_t count, capacity;
};

/* Finds the predictors of the failures with this signature, best first.  Failures with other
 * signatures are left out, because they are other bugs.  A predicate is also left out if it is
 * true in no failing run, or in a share of the passing runs that is at least as large. */
void sketch_predict(const struct sketch_runs *runs, const char *signature, struct sketch_predictors *out);
void sketch_predictors_release(struct sketch_predictors *p);

/* Sorts the predictors again after interventions, which are runs in which an order is forced or
 * prevented.  Equally good causes are sorted by the time at which they became true, because the
 * first one led to the others. */
void sketch_predictors_sort(struct sketch_predictors *p);

/* Sets `when` of the first `count` predictors.  If possible, all of them refer to the same failing
 * run. */
void sketch_predictors_time(const struct sketch_runs *runs, const char *signature,
			    struct sketch_predictors *p, size_t count);

/* Computes the measures from the counts. */
void sketch_measure(struct sketch_predictor *p);

/* Returns the best predictor of a type, or NULL if there is none. */
const struct sketch_predictor *sketch_best(const struct sketch_predictors *p, enum sketch_type type);

/* Finds the last events of a run that make the predicate true, and stores their indices in `at`,
 * one for each statement of the predicate.  If the predicate is true because the run ended before
 * one of the events happened, the index of that event is SIZE_MAX.  Returns false if the predicate
 * is not true in this run. */
bool sketch_predictor_at(const struct sketch_runs *runs, const struct sketch_run *run,
			 const struct sketch_predictor *p, size_t at[3]);

const char *sketch_type_name(enum sketch_type type);
const char *sketch_pattern_name(enum sketch_pattern pattern);

/* Returns true if interventions confirm the predictor: runs fail if it is forced, and pass if it is
 * prevented. */
bool sketch_is_confirmed(const struct sketch_predictor *p);

#endif
