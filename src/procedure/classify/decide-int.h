/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: decides what the runs mean for the class of a race.  This part runs no program,
 * so that every case can be tested.
 *
 * There are three groups of runs (classify/variant-int.h).  In the first two, the two threads are
 * brought to their accesses at the same time; the groups differ in which access comes first.  In
 * the third, the control group, the threads are not brought together.  Runs with the same number in
 * the first two groups are twins.
 *
 * Runs only raise questions: a run fails, or its output differs from that of another run.
 * Experiments answer them.  An experiment is a run and its counterpart, which takes the same
 * decisions, but makes the two accesses in the other order, or one of them earlier.  If the two
 * have different effects, the race causes the difference, because nothing else differs.
 */
#ifndef CLASSIFY_DECIDE_INT_H
#define CLASSIFY_DECIDE_INT_H

#include "classify/classify.h"
#include "trial/trial.h"
#include "classify/variant-int.h"

struct decide_place {
	enum variant_group group;
	size_t number;
};

struct decide_experiment {
	/* The run: one of the first two groups, or `between`.  In the latter case, the number is
	 * that of the experiment. */
	struct decide_place of;
	/* for a run of VARIANT_BETWEEN: which of the two accesses is moved, the number of the
	 * variant (variant_make_between()), and the run */
	unsigned moved, variant;
	struct trial between;
	/* The counterpart of the run.  It does not count if it could not take the same decisions,
	 * because the order of the accesses changed what the threads do, or if the run itself could
	 * not be repeated. */
	struct trial counterpart;
};

/* Runs by group; runs with the same number in different groups belong together. */
struct decide_runs {
	struct trial *items[VARIANT_GROUPS];
	/* number of runs in each group; a run that was not made is all zero and does not count */
	size_t count;
	/* at most one for each run of the first two groups, and some with runs of VARIANT_BETWEEN;
	 * the counterparts are the runs of VARIANT_COUNTERPART */
	struct decide_experiment *experiments;
	size_t experiment_count;
};

struct decision {
	/* FINDING_NO_CLASS in two cases: only a doubtful fault was found; or no fault was found,
	 * and in each pair of twins at least one run does not count */
	enum finding_class class;
	struct decide_place shows; /* the run that shows the class */
	/* a run that differs from `shows`, in the other order or in the control group */
	struct decide_place other;
	bool has_other;
	/* `shows` and `other` are a run and its counterpart, so they differ in one decision */
	bool proved;
	bool any_order; /* the effect occurs in either order if the threads meet */
	bool sorted;	/* outputs were compared without regard to the order of their lines */
	bool doubt;	/* a fault is too rare to tell whether the race causes it */
	/* a run of each pair failed, so the orders cannot be compared.  If the race causes this,
	 * `class` is FINDING_SPEC_VIOLATED. */
	bool hopeless;
	bool noise; /* outputs or faults differ in ways that the race may not explain */
	/* the number of different continuations after the race that were run in both orders */
	uint64_t k;
};

void decide(const struct decide_runs *runs, struct decision *d);

struct trial *decide_at(const struct decide_runs *runs, struct decide_place p);

/* Returns true if another experiment is needed, and stores in *of the run that needs a
 * counterpart. */
bool decide_wants_experiment(const struct decide_runs *runs, struct decide_place *of);

/* Returns true if a run in which the threads met has a fault, and it is not yet clear whether the
 * race causes this fault. */
bool decide_is_open(const struct decide_runs *runs);

/* Returns true if any two of the runs ended differently or wrote different output. */
bool decide_differ(const struct decide_runs *runs);

/* Returns true if none of these runs showed the effect of run `t`, that is, its fault or its
 * output.  A new output counts only if the outputs of the other runs repeat; otherwise every output
 * would be new.  Sets *sorted if the lines of the output were compared without regard to their
 * order. */
bool decide_is_new(const struct decide_runs *runs, const struct trial *t, bool *sorted);

/* Returns the number of pairs of twins that were made after the last pair that showed a new
 * schedule.  A pair is considered only if both of its runs count. */
size_t decide_stale(const struct decide_runs *runs);

#endif
