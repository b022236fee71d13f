/* SPDX-License-Identifier: Apache-2.0 */
/* What a prediction left out, after a report. */
#ifndef REPORT_PREDICTION_H
#define REPORT_PREDICTION_H

#include "predict/batch.h"

#include <stdio.h>

/* Names what was left out and which option changes that.  `done` is a word for what happens to
 * findings, as in "3 more were not tried". */
void report_prediction_rest(const struct predict_batch *p, FILE *out, const char *done);

#endif
