/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a pass share: pass.c runs the steps, part.c cuts the trace, and walk.c handles
 * accesses that the run shows unordered. */
#ifndef PREDICT_PASS_INT_H
#define PREDICT_PASS_INT_H

#include "base/map.h"
#include "model/open.h"
#include "predict/unordered-int.h"
#include "predict/fill.h"
#include "predict/pass.h"
#include "predict/predict-int.h"

/* Clocks may use at most one Nth of the memory.  A quarter leaves most of it to events and
 * accesses; only programs with hundreds of threads come near the limit. */
#define PREDICT_CLOCK_SHARE 4

struct trace_part {
	struct model_part range;
	bool done;
};

/* Whether a part is searched before all others, for some races only. */
enum first { FIRST_NOT, FIRST_SOUND, FIRST_ALL };

/* The next stage. */
enum pass_stage { PASS_WALK, PASS_FIRST, PASS_CUT, PASS_PART, PASS_STEPS, PASS_END, PASS_OVER };

struct predict_pass {
	struct predict_batch *p;
	struct finding_set *set;
	struct model_file in;
	struct model *model;
	bool whole; /* the events were read before the deadline */
	enum pass_stage stage;
	int64_t caller_since_ns; /* since when the caller has been handling PREDICT_FOUND; 0: it is not */
	int err;

	struct trace_part *parts;
	size_t count, done;   /* parts, and how many of them are finished */
	size_t at;	      /* the current part */
	double ns_per_q;      /* time to read one operation, the shortest measured; 0: no part was read yet */
	uint64_t base;	      /* bytes in use when the model has no histories */
	struct rd_umap pairs; /* pairs of sites with a race */

	struct predict_trace trace; /* of the part, if `steps` */
	struct predict_steps *steps;
	struct predict_result result;
	int64_t deadline_ns; /* of the current part */

	enum first first;
	struct rd_umap wanted; /* pairs of sites that the first search looks for */
	struct predict_unordered_list unordered;
	bool walked; /* the walk for unordered accesses was done */
	size_t from; /* the first finding of this trace */
};

/* ---- pass.c ---- */

/* When the share of one of `count` parts of the remaining time is over. */
int64_t pass_share(int64_t deadline_ns, size_t count);

/* When reading must be finished.  A prediction from a part that was read incompletely would be
 * wrong. */
int64_t pass_reading_deadline(const struct predict_batch *p);

/* Reads the part d->at and searches it, all at once. */
int pass_search_part(struct predict_pass *d);

/* Sets the arguments of the program, if the set has none. */
void pass_set_arguments(struct finding_set *set, const struct trace_meta *meta);

/* Counts a trace, and a search in it. */
void pass_sum_up_model(struct predict_batch *p, const struct model *model);
void pass_sum_up(struct predict_batch *p, const struct predict_trace *t, const struct predict_result *r);

/* Adds the failure of the run, or that it had to be ended, as a finding if that is wanted. */
void pass_look_at_end(struct predict_batch *p, const struct model *model, struct finding_set *set);

/* ---- part.c ---- */

/* How many operations and accesses fit into the memory. */
uint64_t pass_items(const struct predict_batch *p);

/* One part, unless the trace may be too large for the memory. */
void pass_cut(struct predict_pass *d);

/* Chooses d->at, and cuts it if there is no time to read it and to check it in recorded order. */
void pass_choose(struct predict_pass *d);

/* How many pieces the current part must be cut into to fit into memory; 1: it fits.  A wide access
 * to memory that other threads access in small pieces becomes many events. */
uint64_t pass_pieces(const struct predict_pass *d);

/* Cuts the current part and all parts that are not finished, which are probably too large as well.
 */
void pass_cut_again(struct predict_pass *d, uint64_t pieces);

/* Records how long reading the part took. */
void pass_note_reading(struct predict_pass *d, int64_t begin_ns);

/* ---- walk.c ---- */

/* Whether the run is so large that a walk over the whole of it comes first. */
bool pass_is_to_walk(const struct predict_pass *d);
void pass_walk(struct predict_pass *d);

/* Searches the few parts in which the walk saw accesses unordered. */
int pass_search_unordered(struct predict_pass *d);

/* The walk after the search, for a small trace: it shows which races happened in the recorded run,
 * whatever replays show. */
void pass_walk_last(struct predict_pass *d);

/* Marks the findings from number `from` on whose accesses the run shows firmly unordered. */
void pass_note_firm(struct predict_pass *d, size_t from);

/* Lists the accesses that the run shows unordered, even if there was no time to search for a
 * schedule or to describe them. */
void pass_list_unordered(struct predict_pass *d);

#endif
