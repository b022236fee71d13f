/* SPDX-License-Identifier: Apache-2.0 */
/* Reports what a prediction left out, after a report. */
#ifndef REPORT_PREDICTION_H
#define REPORT_PREDICTION_H

#include "predict/batch.h"

#include <stdio.h>

/* Prints what was left out and which option changes that.  `done` is a verb that states what is
 * done with findings, such as "tried" in "3 more were not tried". */
void report_prediction_rest(const struct predict_batch *p, FILE *out, const char *done);

#endif
