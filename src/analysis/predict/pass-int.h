/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that batch.c and the files of a pass (the prediction from one trace) share.  The
 * file pass.c runs the steps, part.c cuts the trace, and walk.c handles accesses that are unordered
 * in the recorded run. */
#ifndef PREDICT_PASS_INT_H
#define PREDICT_PASS_INT_H

#include "base/map.h"
#include "model/open.h"
#include "predict/unordered-int.h"
#include "predict/fill.h"
#include "predict/pass.h"
#include "predict/predict-int.h"

/* Clocks may use at most 1/PREDICT_CLOCK_SHARE of the memory.  A quarter leaves most of the memory
 * to events and accesses.  Only programs with hundreds of threads come near this limit. */
#define PREDICT_CLOCK_SHARE 4

struct trace_part {
	struct model_part range;
	bool done;
};

/* Whether a part is searched before all others and, if so, for which races. */
enum first { FIRST_NOT, FIRST_SOUND, FIRST_ALL };

/* The stages of a pass.  The member `stage` of a pass is the stage that it executes next. */
enum pass_stage { PASS_WALK, PASS_FIRST, PASS_CUT, PASS_PART, PASS_STEPS, PASS_END, PASS_OVER };

struct predict_pass {
	struct predict_batch *p;
	struct finding_set *set;
	struct model_file in;
	struct model *model;
	bool whole; /* the events were read before the deadline */
	enum pass_stage stage;
	/* The time at which the caller began to handle PREDICT_FOUND, or 0 if it is not doing
	 * so. */
	int64_t caller_since_ns;
	int err;

	struct trace_part *parts;
	size_t count, done; /* number of parts, and how many of them are finished */
	size_t at;	    /* index of the current part */
	/* The shortest measured time to read one operation, or 0 if no part was read yet. */
	double ns_per_q;
	uint64_t base;	      /* bytes in use while the model has no histories */
	struct rd_umap pairs; /* pairs of sites with a known race */

	/* The execution of the current part; valid if `steps` is not NULL. */
	struct predict_trace trace;
	struct predict_steps *steps;
	struct predict_result result;
	int64_t deadline_ns; /* deadline of the current part */

	enum first first;
	struct rd_umap wanted; /* pairs of sites that the first search looks for */
	struct predict_unordered_list unordered;
	bool walked; /* the walk for unordered accesses was done */
	size_t from; /* index of the first finding of this trace */
};

/* ---- pass.c ---- */

/* Divides the time until the deadline equally among `count` parts, and returns the time at which
 * the share of the first part ends. */
int64_t pass_share(int64_t deadline_ns, size_t count);

/* Returns the time at which reading must be finished.  A prediction from a part that was read
 * incompletely would be wrong. */
int64_t pass_reading_deadline(const struct predict_batch *p);

/* Reads the part d->at and searches it, all at once. */
int pass_search_part(struct predict_pass *d);

/* Stores the arguments of the program in the set, unless it already has them. */
void pass_set_arguments(struct finding_set *set, const struct trace_meta *meta);

/* Adds the counts of a trace to the totals of the batch. */
void pass_sum_up_model(struct predict_batch *p, const struct model *model);
/* Adds the counts of a search in a trace to the totals of the batch. */
void pass_sum_up(struct predict_batch *p, const struct predict_trace *t, const struct predict_result *r);

/* Adds a finding for a run that failed or had to be ended, if the batch asks for it. */
void pass_look_at_end(struct predict_batch *p, const struct model *model, struct finding_set *set);

/* ---- part.c ---- */

/* Returns the number of operations and accesses that fit into the memory. */
uint64_t pass_items(const struct predict_batch *p);

/* Cuts the trace into parts.  It stays one part unless it may be too large for the memory. */
void pass_cut(struct predict_pass *d);

/* Chooses the next part of the trace to search, d->at.  If there is no time to read that part and
 * to check it in recorded order, cuts it into smaller parts. */
void pass_choose(struct predict_pass *d);

/* Returns the number of pieces into which the current part must be cut to fit into memory, or 1 if
 * the part fits.  How much memory a part needs is known only after it was read: a wide access
 * becomes many events if other threads access the same memory in small pieces. */
uint64_t pass_pieces(const struct predict_pass *d);

/* Cuts the current part into smaller parts.  Also cuts all other parts that are not finished,
 * because they are probably too large as well. */
void pass_cut_again(struct predict_pass *d, uint64_t pieces);

void pass_note_reading(struct predict_pass *d, int64_t begin_ns);

/* ---- walk.c ---- */

/* Returns true if the run is so large that a walk over all of it comes before the search. */
bool pass_is_to_walk(const struct predict_pass *d);
void pass_walk(struct predict_pass *d);

/* Searches the few parts in which the walk found unordered accesses. */
int pass_search_unordered(struct predict_pass *d);

/* Searches a small trace, after prediction, for accesses that are unordered in the recorded run.
 * This walk shows which races happened in that run, independently of what replays show. */
void pass_walk_last(struct predict_pass *d);

/* Marks the findings, from number `from` on, whose accesses certainly raced in the recorded run
 * (are firm). */
void pass_note_firm(struct predict_pass *d, size_t from);

/* Lists the accesses that are unordered in the recorded run, even if there was no time to search
 * for a schedule or to describe them. */
void pass_list_unordered(struct predict_pass *d);

#endif
