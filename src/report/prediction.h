/* SPDX-License-Identifier: Apache-2.0 */
/* What a prediction left out, after a report. */
#ifndef REPORT_PREDICTION_H
#define REPORT_PREDICTION_H

#include "predict/batch.h"

#include <stdio.h>

/* Names what was left out and which option changes that; `done` is what is done with findings. */
void report_prediction_rest(const struct predict_batch *p, FILE *out, const char *done);

#endif
