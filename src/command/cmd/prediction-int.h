/* SPDX-License-Identifier: Apache-2.0 */
/* Options that `predict` and `check` have in common; see also predict/batch.h. */
#ifndef CMD_PREDICTION_INT_H
#define CMD_PREDICTION_INT_H

#include "predict/batch.h"

/* Initialises a prediction from the options. */
void cmd_prediction_start(struct predict_batch *p);

#endif
