/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a pass share: pass.c goes from step to step, part.c cuts the trace, walk.c looks at what
 * the run shows unordered. */
#ifndef PREDICT_PASS_INT_H
#define PREDICT_PASS_INT_H

#include "base/map.h"
#include "model/open.h"
#include "model/unordered.h"
#include "predict/fill.h"
#include "predict/pass.h"
#include "predict/predict.h"

/* Share of the memory (one in so many) for clocks of very many threads.  A quarter leaves most of it to
 * events and accesses; only programs with hundreds of threads come near. */
#define PREDICT_CLOCK_SHARE 4

struct part {
	struct model_part range;
	bool done;
};

/* Whether a part is one of those that are looked at before the others, for some races only. */
enum first { FIRST_NOT, FIRST_SOUND, FIRST_ALL };

/* What comes next. */
enum pass_stage { PASS_WALK, PASS_FIRST, PASS_CUT, PASS_PART, PASS_STEPS, PASS_END, PASS_OVER };

struct predict_pass {
	struct predict_batch *p;
	struct finding_set *set;
	struct model_file in;
	struct model *model;
	bool whole; /* the events were read in time */
	enum pass_stage stage;
	int64_t away_ns; /* since when the caller has been acting on PREDICT_FOUND; 0: it is not */
	int err;

	struct part *parts;
	size_t count, done;   /* parts, and how many of them were looked at */
	size_t at;	      /* the one that is looked at */
	double ns_per_q;      /* that reading a part took, at least; 0: none was read yet */
	uint64_t base;	      /* memory that the model takes without histories */
	struct rd_umap pairs; /* of sites with a race */

	struct predict_trace trace; /* of the part, if `steps` */
	struct predict_steps *steps;
	struct predict_result result;
	int64_t deadline_ns; /* of the part */

	enum first first;
	struct rd_umap wanted; /* pairs of sites that are looked for first: */
	struct model_unordered_list unordered;
	bool walked; /* they are what was looked for first */
	size_t from; /* the first finding of this trace */
};

/* ---- pass.c ---- */

/* Of the time that is left, the share of one of `count`. */
int64_t pass_share(int64_t deadline_ns, size_t count);

/* By when a part has to be read: what is predicted from less than that would be wrong. */
int64_t pass_reading_deadline(const struct predict_batch *p);

/* Reads the part d->at and searches it, all at once. */
int pass_search_part(struct predict_pass *d);

/* The arguments of the program, if the set has none. */
void pass_set_arguments(struct finding_set *set, const struct trace_meta *meta);

/* Counts a trace, and a search in it. */
void pass_sum_up_model(struct predict_batch *p, const struct model *model);
void pass_sum_up(struct predict_batch *p, const struct predict_trace *t, const struct predict_result *r);

/* If the run failed, or had to be ended, and that is wanted: adds it as a finding. */
void pass_look_at_end(struct predict_batch *p, const struct model *model, struct finding_set *set);

/* ---- part.c ---- */

/* How many operations and accesses there is memory for. */
uint64_t pass_items(const struct predict_batch *p);

/* One part unless there may be too much for the memory; only then it is counted. */
void pass_cut(struct predict_pass *d);

/* Chooses d->at, and cuts it if it could not even be read and looked at in recorded order in time. */
void pass_choose(struct predict_pass *d);

/* Into how many pieces the part has to be cut once more: wide accesses of places that others access piece by
 * piece are many events.  1: it is small enough. */
uint64_t pass_pieces(const struct predict_pass *d);

/* Cuts the part that is looked at, and the others that are to be looked at, which will be like it. */
void pass_cut_again(struct predict_pass *d, uint64_t pieces);

/* Notes how long reading the part took. */
void pass_note_reading(struct predict_pass *d, int64_t begin_ns);

/* ---- walk.c ---- */

/* Whether the run is so large that a walk over the whole of it comes first. */
bool pass_is_to_walk(const struct predict_pass *d);
void pass_walk(struct predict_pass *d);

/* Searches the few parts in which the walk saw accesses unordered. */
int pass_search_unordered(struct predict_pass *d);

/* The walk alone, for a trace that is not large: what came unordered in the run is a race whatever replays
 * show. */
void pass_walk_last(struct predict_pass *d);

/* Says of the findings from number `from` on what the run shows firmly unordered. */
void pass_note_firm(struct predict_pass *d, size_t from);

/* Adds what the run itself shows unordered, even if there was no time to search for an order that leads
 * there, or to describe it. */
void pass_list_unordered(struct predict_pass *d);

#endif
