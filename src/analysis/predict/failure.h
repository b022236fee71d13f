/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded run that failed by itself, as a finding. */
#ifndef PREDICT_FAILURE_H
#define PREDICT_FAILURE_H

#include "finding/finding.h"
#include "model/model.h"

#include <stdbool.h>

/* Whether a program that a signal ended has failed: not where somebody else may have sent it. */
bool predict_is_failure(int signal);

/* Whether a thread called abort() or failed an assertion: of a forked process it is not known how it ended.
 */
bool predict_has_aborted(const struct model *model);

/* Adds the failure of the run, which `signal` ended, to the set: confirmed, since it was seen; with signal 0
 * a run that had to be ended, which is not confirmed: it may have had more to do.  The model has histories.
 * False, and nothing is added: no thread came as far as to do something, so that it cannot be told whether
 * the program or Raddle failed. */
bool predict_failure(const struct model *model, int signal, struct finding_set *set);

#endif
