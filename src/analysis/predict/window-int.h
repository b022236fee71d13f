/* SPDX-License-Identifier: Apache-2.0 */
/* Prediction window by window, for executions too large to search as a whole. */
#ifndef PREDICT_WINDOW_INT_H
#define PREDICT_WINDOW_INT_H

#include "predict/predict-int.h"

/* The windows of an execution, one at a time. */
struct predict_windows;
struct predict_windows *predict_windows_open(const struct exec *x, const struct predict_opts *o);
void predict_windows_close(struct predict_windows *s);

/* The next window as an execution of its own, in which everything before the window is done in
 * recorded order; NULL: there are no more. */
const struct exec *predict_windows_next(struct predict_windows *s);

/* When the search of the window must end, so that it takes its share of the time until deadline_ns;
 * 0: never. */
int64_t predict_windows_deadline(const struct predict_windows *s, int64_t deadline_ns);

/* Moves the races and deadlocks of the window to the whole. */
void predict_windows_gather(struct predict_windows *s, struct predict_result *from,
			    struct predict_result *out);

/* Ends the window: moves its results, adds the sums, and releases `from`. */
void predict_windows_end(struct predict_windows *s, struct predict_result *from, struct predict_result *out);

#endif
