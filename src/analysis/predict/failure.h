/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a recorded run that failed by itself into a finding. */
#ifndef PREDICT_FAILURE_H
#define PREDICT_FAILURE_H

#include "finding/finding.h"
#include "model/model.h"

#include <stdbool.h>

/* Returns true if a program that was ended by `signal` counts as failed.  Signals that other
 * processes commonly send do not count as failures. */
bool predict_is_failure(int signal);

/* Returns true if exactly one thread called abort() or failed an assertion.  For a forked process,
 * whose exit status is not known, this distinguishes a failure from a normal end. */
bool predict_has_aborted(const struct model *model);

/* Adds to the set the failure of a run that `signal` ended, as a confirmed finding.  Signal 0
 * means that Raddle had to end the run.  The finding is then unconfirmed, because the run might
 * have ended by itself later.  The model must have histories.  If no thread did anything, Raddle
 * itself may have failed.  In that case the function adds nothing and returns false. */
bool predict_failure(const struct model *model, int signal, struct finding_set *set);

#endif
