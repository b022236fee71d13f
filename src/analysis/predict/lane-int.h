/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigns threads to lanes.  Threads that cannot run at the same time share a lane.
 *
 * If a thread is created after another one was joined, all its events come after all events of the
 * joined thread, in every schedule.  So the two threads form one sequence, and a search keeps one
 * position for this sequence.  Thus it needs only as many positions as threads run at the same
 * time, not as many as ever ran.
 */
#ifndef PREDICT_LANE_INT_H
#define PREDICT_LANE_INT_H

#include "order/exec.h"

/* Returns an array with the lane of each thread, numbered from 0.  Stores the number of lanes in
 * *count. */
uint16_t *predict_lanes(const struct exec *x, uint32_t *count);

#endif
