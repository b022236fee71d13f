/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes: threads that cannot run at the same time share a lane.
 *
 * If a thread is created after another one was joined, all its events come after all events of the
 * other, in every schedule.  So the two form one sequence.  A search keeps a position for each
 * sequence.  So it needs as many positions as threads run at the same time, not as many as ever
 * ran.
 */
#ifndef PREDICT_LANE_INT_H
#define PREDICT_LANE_INT_H

#include "order/exec.h"

/* Returns the lane of each thread, numbered from 0. *count receives the number of lanes. */
uint16_t *predict_lanes(const struct exec *x, uint32_t *count);

#endif
