/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes: threads that cannot run at the same time share one.
 *
 * A thread that is created behind the join of another one has all its events behind all of the other's, in
 * every schedule.  So the two are one straight line, and a search that keeps a position for each line needs
 * as many as threads run at once, not as many as ever ran.
 */
#ifndef PREDICT_LANE_H
#define PREDICT_LANE_H

#include "order/exec.h"

/* Returns the lane of each thread, numbered from 0; there are *count. */
uint16_t *predict_lanes(const struct exec *x, uint32_t *count);

#endif
