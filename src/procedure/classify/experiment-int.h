/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: what experiments show (classify/decide-int.h), and which run needs one.  This
 * part runs no program.
 */
#ifndef CLASSIFY_EXPERIMENT_INT_H
#define CLASSIFY_EXPERIMENT_INT_H

#include "classify/decide-int.h"

/* Returns a digest of a run's output, by which outputs are compared. */
typedef uint64_t experiment_key(const struct trial *t);

/* Returns the experiment about a run, or NULL if there is none yet. */
const struct decide_experiment *experiment_of(const struct decide_runs *r, struct decide_place run);

/* Returns true if one of the two runs of an experiment has this fault, and the other run has no
 * fault. */
bool experiment_shows_fault(const struct decide_runs *r, const struct decide_experiment *e,
			    const char *fault);

/* Returns true if the two runs of an experiment have no fault, and different outputs. */
bool experiment_shows_output(const struct decide_runs *r, const struct decide_experiment *e,
			     experiment_key *key);

/* Returns true if some experiment shows that this fault depends on the order of the accesses. */
bool experiment_proves(const struct decide_runs *r, const char *fault);

/* Returns true if the experiment about a run with this fault was inconclusive, because the run
 * with which it was compared does not count.  In that case, experiments may miss that the order of
 * the accesses causes the fault. */
bool experiment_may_miss(const struct decide_runs *r, const char *fault);

#endif
