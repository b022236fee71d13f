/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a recorded run that failed by itself into a finding. */
#ifndef PREDICT_FAILURE_H
#define PREDICT_FAILURE_H

#include "finding/finding.h"
#include "model/model.h"

#include <stdbool.h>

/* Returns true if it is a failure when `signal` ends a program.  Signals that other processes
 * commonly send do not count as failures. */
bool predict_is_failure(int signal);

/* Returns true if one thread called abort() or failed an assertion, and no other thread did.  This
 * distinguishes a failure from a normal end if the exit status is not known, as for a forked
 * process. */
bool predict_has_aborted(const struct model *model);

/* Adds to the set, as a confirmed finding, the failure of a run that `signal` ended.  Signal 0
 * means that Raddle had to end the run.  That failure is not confirmed, because the run might have
 * ended by itself later.  The model must have histories.  If no thread did anything, the failure
 * may be Raddle's own.  In that case the function adds nothing and returns false. */
bool predict_failure(const struct model *model, int signal, struct finding_set *set);

#endif
