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
	/* The run of the experiment: a run of VARIANT_FIRST or VARIANT_SECOND, or the member
	 * `between`.  For `between`, of.number is the index of this experiment. */
	struct decide_place of;
	/* For a run of VARIANT_BETWEEN, these members are the access that is moved (0 or 1), the
	 * number of the variant (variant_make_between()), and the run itself. */
	unsigned moved, variant;
	struct trial between;
	/* The counterpart of the run, which takes the same decisions, but makes the accesses in
	 * the other order, or one of them earlier.  It does not count if the threads then do
	 * something else, so that the same decisions are impossible.  It also does not count if
	 * the run itself could not be repeated. */
	struct trial counterpart;
};

/* Runs by group; runs with the same number in different groups belong together. */
struct decide_runs {
	struct trial *items[VARIANT_GROUPS];
	/* number of runs in each group; a run that was not made is all zero and does not count */
	size_t count;
	/* Each run of VARIANT_FIRST or VARIANT_SECOND has at most one experiment.  Other
	 * experiments have runs of VARIANT_BETWEEN.  All counterparts are runs of
	 * VARIANT_COUNTERPART. */
	struct decide_experiment *experiments;
	size_t experiment_count;
};

struct decision {
	/* This is FINDING_NO_CLASS if only a doubtful fault was found.  It is also
	 * FINDING_NO_CLASS if no fault was found and at least one run of each pair of twins does
	 * not count.  Twins are two runs that differ only in the order of the accesses. */
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
	/* At least one run of each pair of twins failed, so the orders cannot be compared.  If the
	 * race causes these failures, `class` is FINDING_SPEC_VIOLATED. */
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

/* Returns true if it is not yet known whether the race caused the failure of some run.  Considers
 * only runs in which the threads were brought to their accesses at the same time. */
bool decide_is_open(const struct decide_runs *runs);

/* Returns true if any two of the runs ended differently or wrote different output. */
bool decide_differ(const struct decide_runs *runs);

/* Returns true if none of these runs showed the effect of run `t`, that is, its fault or its
 * output.  If the output of the program differs from run to run, every output would be new.  A new
 * output therefore counts only if the outputs of the other runs repeat.  Sets *sorted if the lines
 * of the output were compared without regard to their order. */
bool decide_is_new(const struct decide_runs *runs, const struct trial *t, bool *sorted);

/* Twins are two runs that differ only in the order of the two accesses.  Returns the number of
 * pairs of twins that were made after the last pair that showed a new schedule.  Ignores a pair if
 * one of its runs does not count. */
size_t decide_stale(const struct decide_runs *runs);

#endif
