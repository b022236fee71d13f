/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the parts of one prediction share: predict.c, race.c, pair.c, deadlock.c and
 * witness.c. */
#ifndef PREDICT_INTERNAL_INT_H
#define PREDICT_INTERNAL_INT_H

#include "base/tuple.h"
#include "predict/core-int.h"
#include "predict/predict-int.h"
#include "predict/search-int.h"

struct predictor {
	const struct predict_opts *o;
	struct core c;
	struct predict_search s;
	enum predict_class class;
	struct predict_result *out;
	struct rd_umap *pairs;	     /* maps a pair of sites to its state (race.c) */
	struct rd_tuples identities; /* numbers the sets of stops */
	/* Maps each possible deadlock (a number in `identities`) to the number of failed searches
	 * for it, or to FOUND if a search succeeded (deadlock.c). */
	struct rd_umap cycles;
	uint32_t *p;		/* an ideal for temporary use */
	int64_t extension_ns;	/* how much later the deadline is than the one in `o` */
	struct race_walk *walk; /* the search for races (race-int.h); NULL if it is not open */
};

/* Begins to look for races with one semantics. */
void predict_races_open(struct predictor *r);
/* Looks for races with the next effort (race-int.h).  Returns false after the last effort. */
bool predict_races_next(struct predictor *r);
void predict_races_close(struct predictor *r);
void predict_deadlocks(struct predictor *r);

/* Both functions fill a witness, which is an order of events that leads to a finding.  The first
 * one uses the events of the ideal `p` in recorded order, and sets `order` to NULL. The second one
 * uses the latest answer of the search. */
void predict_witness_of_ideal(const struct core *c, const uint32_t *p, struct predict_witness *w);
void predict_witness_of_search(const struct predict_search *s, struct predict_witness *w);

/* Returns true if some schedule that keeps the recorded order of critical sections leads each
 * thread to its target and stops it there.  On success, r->p contains the events of that schedule,
 * as an ideal. */
bool predict_sp_reach(struct predictor *r, const uint32_t *targets, uint32_t count);

#endif
