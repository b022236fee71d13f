/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A failure sketch: the steps of a failing run that matter, in order, with their threads and
 * values; the steps of the most similar passing run; and the predictors.  In: runs and predictors.
 * Out: the data that report/ prints.
 */
#ifndef SKETCH_SKETCH_H
#define SKETCH_SKETCH_H

#include "base/alloc.h"
#include "sketch/decide.h"
#include "sketch/outcome.h"
#include "sketch/predictor.h"

#define SKETCH_VERSION 1 /* of the format */

enum sketch_mark { SKETCH_MARK_PREDICTOR = 1, SKETCH_MARK_FAILURE = 2, SKETCH_MARK_DIFFERS = 4 };

struct sketch_value {
	const char *name;
	uint64_t value;
	uint8_t size;
};

/* What a thread did at a line, without a step of another thread in between. */
struct sketch_step {
	uint32_t thread;
	const char *file, *function;
	uint32_t line;
	const char *event; /* "reads x, writes x" */
	struct sketch_value *values;
	size_t value_count;
	uint32_t *writers; /* by value: the step that wrote it, from 1; 0: none here */
	unsigned marks;
};

struct sketch_steps {
	struct sketch_step *items;
	size_t count;
};

struct sketch {
	const char *signature;
	struct sketch_failure failure; /* the arena owns its strings */
	size_t failing, passing;       /* numbers of runs */
	size_t before;		       /* failing runs that were used with a smaller σ */
	size_t perturbed;	       /* failing runs whose schedule Raddle influenced */
	uint32_t sigma;		       /* statements of the slice that were tracked; 0: all that ran */
	uint32_t near;		       /* the first so many of them are shown; 0: all */
	const struct sketch_runs *runs;
	struct sketch_steps fails, passes; /* passes: none if no run passed */
	struct sketch_predictors predictors;
	const char **texts;	      /* the predictors in words; NULL for those that are not shown */
	const char *schedule;	      /* of the failing run, as text; NULL: unknown */
	const char *schedule_path;    /* the file with it; NULL: none */
	const struct decide *decided; /* used only while the sketch is made */
	struct rd_arena *arena;
};

struct sketch_set {
	struct sketch *items;
	size_t count, capacity;
	const char *program;	  /* as the user wrote it */
	size_t runs, unexplained; /* runs that were made; signatures without a sketch */
	const char *note;	  /* how runs were made, a sentence; may be NULL */
	const char *left;	  /* why the diagnosis ended early, a sentence; may be NULL */
};

/* Makes the sketch of the failures with the signature of `failure`, and takes over `predictors`. */
struct sketch_reach {
	uint32_t sigma, near;	      /* of struct sketch */
	const struct decide *decided; /* what decides about statements; NULL: unknown */
};
void sketch_draw(struct sketch *s, const struct sketch_runs *runs, const struct sketch_failure *failure,
		 struct sketch_predictors *predictors, const struct sketch_reach *reach);
void sketch_set_release(struct sketch_set *set);

/* The value as people read it: -1, or 0x7f... if it is large; "?" if it is unknown. */
void sketch_value_text(const struct sketch_value *v, char out[32]);

/* Whether a predictor is shown: the best few are, and the best of each type. */
bool sketch_is_shown(const struct sketch *s, size_t predictor);

#endif
