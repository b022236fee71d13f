/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts an execution that is too large to be searched as a whole into windows, and collects the
 * results of the windows. */
#ifndef PREDICT_WINDOW_INT_H
#define PREDICT_WINDOW_INT_H

#include "predict/predict-int.h"

/* Iterates over the windows of an execution. */
struct predict_windows;
struct predict_windows *predict_windows_open(const struct exec *x, const struct predict_opts *o);
void predict_windows_close(struct predict_windows *s);

/* Returns the next window as a separate execution, in which everything before the window has
 * happened in recorded order.  Returns NULL after the last window. */
const struct exec *predict_windows_next(struct predict_windows *s);

/* Returns the time at which the search of this window must end, so that it uses only its share of
 * the time until deadline_ns.  Returns 0 for no limit. */
int64_t predict_windows_deadline(const struct predict_windows *s, int64_t deadline_ns);

/* Moves the races and deadlocks of the window to the result of the whole execution. */
void predict_windows_gather(struct predict_windows *s, struct predict_result *from,
			    struct predict_result *out);

/* Ends the window.  Moves its results and adds its statistics to `out`, and releases `from`. */
void predict_windows_end(struct predict_windows *s, struct predict_result *from, struct predict_result *out);

#endif
