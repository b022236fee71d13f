/* SPDX-License-Identifier: Apache-2.0 */
/* What `predict` and `check` have in common besides predict/batch.h. */
#ifndef CMD_PREDICTION_H
#define CMD_PREDICTION_H

#include "predict/batch.h"

/* Whether the options make sense; `name` is the command's, for the message. */
int cmd_prediction_check(const struct predict_batch *p, const char *name);

/* Writes DIR/ID.schedule for each finding that is not dropped. */
int cmd_write_schedules(struct finding_set *set, const char *directory);

#endif
