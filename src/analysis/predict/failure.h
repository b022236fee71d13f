/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded run that failed by itself, as a finding. */
#ifndef PREDICT_FAILURE_H
#define PREDICT_FAILURE_H

#include "finding/finding.h"
#include "model/model.h"

#include <stdbool.h>

/* Whether a program that a signal ended has failed.  Signals that other processes commonly send do
 * not count. */
bool predict_is_failure(int signal);

/* Whether a thread called abort() or failed an assertion; the exit status of a forked process is
 * not known. */
bool predict_has_aborted(const struct model *model);

/* Adds the failure of a run that `signal` ended to the set, as confirmed.  Signal 0 is a run that
 * Raddle had to end; it is not confirmed, because the run may have had more to do.  The model needs
 * histories.  Returns false, and adds nothing, if no thread did anything: then the program or
 * Raddle may have failed. */
bool predict_failure(const struct model *model, int signal, struct finding_set *set);

#endif
