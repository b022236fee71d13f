/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of one prediction share: predict.c, race.c, deadlock.c, cycle.c. */
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
	struct rd_umap *pairs;	     /* (site, site) -> state, see race.c */
	struct rd_tuples identities; /* of sets of stops, */
	struct rd_umap cycles;	     /* and by their number: failures or FOUND, see deadlock.c */
	uint32_t *p;		     /* scratch ideal */
	int64_t extension_ns;	     /* by how much the deadline is later than `o` has it */
	struct race_walk *walk;	     /* the search for races, if it is open (race-int.h); else NULL */
};

/* The races with one semantics, one effort (race-int.h) at a time; predict_races_next() returns
 * false after the last one. */
void predict_races_open(struct predictor *r);
bool predict_races_next(struct predictor *r);
void predict_races_close(struct predictor *r);
void predict_deadlocks(struct predictor *r);

/* Fills a witness from an ideal in recorded order (`order` is NULL) or from the latest answer of
 * the search. */
void predict_witness_of_ideal(const struct core *c, const uint32_t *p, struct predict_witness *w);
void predict_witness_of_search(const struct predict_search *s, struct predict_witness *w);

/* Whether the targets are co-reachable in recorded order; r->p is the ideal. */
bool predict_sp_reach(struct predictor *r, const uint32_t *targets, uint32_t count);

#endif
