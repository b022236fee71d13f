/* SPDX-License-Identifier: Apache-2.0 */
/* Finds deadlocks in a program that hangs. */
#ifndef PREDICT_STUCK_INT_H
#define PREDICT_STUCK_INT_H

#include "predict/predict-int.h"

struct predict_waiters {
	/* For each thread, true if it is in an operation without a time limit. */
	const uint8_t *waits;
	bool all; /* no thread or process is left that could end the waits */
};

/* Adds to `out` the deadlocks in which threads of the execution are stuck.  The unfinished
 * operations of these threads must be pending events, as predict_fill_stuck() makes them.  If
 * waiters->all is false, only deadlocks that no other thread could end are added.  In these, each
 * thread waits for the end of another thread, or for a lock that another thread holds or held when
 * it died.  Every added deadlock is sound, and its tier is PREDICT_RECORDED_ORDER. */
void predict_find_stuck(const struct exec *x, const struct predict_waiters *waiters,
			struct predict_result *out);

#endif
