/* SPDX-License-Identifier: Apache-2.0 */
/* What `predict` and `check` have in common besides predict/batch.h. */
#ifndef CMD_PREDICTION_INT_H
#define CMD_PREDICTION_INT_H

#include "predict/batch.h"

/* Initialises a prediction from the options. */
void cmd_prediction_start(struct predict_batch *p);

#endif
