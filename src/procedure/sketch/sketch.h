/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A failure sketch, which explains why a program fails.  It contains the steps of a failing run
 * that matter, in order, with their threads and values.  It also contains the steps of the most
 * similar passing run, and the predictors: properties that distinguish failing runs from passing
 * ones.
 */
#ifndef SKETCH_SKETCH_H
#define SKETCH_SKETCH_H

#include "base/alloc.h"
#include "sketch/decide.h"
#include "sketch/outcome.h"
#include "sketch/predictor.h"

#define SKETCH_VERSION 1 /* version of the format */

enum sketch_mark { SKETCH_MARK_PREDICTOR = 1, SKETCH_MARK_FAILURE = 2, SKETCH_MARK_DIFFERS = 4 };

struct sketch_value {
	const char *name;
	uint64_t value;
	uint8_t size;
};

/* A step: what a thread did at one line until the next step of another thread. */
struct sketch_step {
	uint32_t thread;
	const char *file, *function;
	uint32_t line;
	const char *event; /* such as "reads x, writes x" */
	struct sketch_value *values;
	size_t value_count;
	/* For each of `values`, the number of the step that wrote the value, counted from 1.  The
	 * number is 0 if none of the shown steps wrote it. */
	uint32_t *writers;
	unsigned marks;
};

struct sketch_steps {
	struct sketch_step *items;
	size_t count;
};

struct sketch {
	const char *signature;
	struct sketch_failure failure; /* the arena owns its strings */
	size_t failing, passing;       /* numbers of failing and passing runs */
	size_t before;		       /* number of failing runs that were used with a smaller σ */
	size_t perturbed;	       /* number of failing runs whose schedule Raddle influenced */
	/* Number of statements of the slice that were tracked; 0 if all executed statements were
	 * tracked. */
	uint32_t sigma;
	uint32_t near; /* number of tracked statements that are shown; 0 for all */
	const struct sketch_runs *runs;
	struct sketch_steps fails, passes; /* `passes` is empty if no run passed */
	struct sketch_predictors predictors;
	const char **texts;   /* by predictor: its text; NULL if it is not shown */
	const char *schedule; /* schedule of the failing run, as text; NULL if unknown */
	/* Path of the file with the schedule; NULL if there is none. */
	const char *schedule_path;
	const struct decide *decided; /* used only while the sketch is made */
	struct rd_arena *arena;
};

struct sketch_set {
	struct sketch *items;
	size_t count, capacity;
	const char *program; /* the program, as the user wrote it */
	/* The number of runs that were made, and the number of signatures without a sketch. */
	size_t runs, unexplained;
	const char *note; /* a sentence that states how the runs were made; may be NULL */
	const char *left; /* a sentence that states why the diagnosis ended early; may be NULL */
};

/* How much of the slice a sketch covers. */
struct sketch_reach {
	uint32_t sigma, near; /* as in struct sketch */
	/* what decides whether statements are executed; NULL if unknown */
	const struct decide *decided;
};
/* Makes the sketch of the failures that have the same signature as `failure`.  Takes ownership of
 * the contents of `predictors`. */
void sketch_draw(struct sketch *s, const struct sketch_runs *runs, const struct sketch_failure *failure,
		 struct sketch_predictors *predictors, const struct sketch_reach *reach);
void sketch_set_release(struct sketch_set *set);

/* Writes a value for people: small numbers in decimal, such as -1, and large ones in hexadecimal,
 * such as 0x7f... Writes "?" if the value is unknown. */
void sketch_value_text(const struct sketch_value *v, char out[32]);

/* Returns true if the sketch lists a predictor.  A sketch lists the best few predictors, and the
 * best predictor of each type. */
bool sketch_is_shown(const struct sketch *s, size_t predictor);

#endif
