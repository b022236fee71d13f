/* SPDX-License-Identifier: Apache-2.0 */
/* Prediction piece by piece, for executions too large to search as a whole. */
#ifndef PREDICT_WINDOW_H
#define PREDICT_WINDOW_H

#include "predict/predict.h"

typedef void window_fn(const struct exec *x, const struct predict_opts *o, struct predict_result *out);

/* Runs `fn` on each window of o->window events and gathers the results.  What
 * came before a window is done in recorded order. */
void predict_windows(const struct exec *x, const struct predict_opts *o, struct predict_result *out,
		     window_fn *fn);

#endif
