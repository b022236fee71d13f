/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds accesses that ran while another thread wrote the same variable.  The order of such an
 * access and the write was not recorded (EXEC_UNSURE in exec.h).
 */
#ifndef PREDICT_OVERLAP_INT_H
#define PREDICT_OVERLAP_INT_H

#include "order/exec.h"

/* The time at which an event happened, as positions in the recorded order: after the operation at
 * `begin`, and before the operation at `end`.  The two are equal if the event itself has a
 * position. */
struct predict_span {
	uint32_t begin, end;
};

/* Marks accesses as unsure if their order relative to other threads was not recorded.  `spans` has
 * one span for each event.  The `begin` positions of the spans ascend, except for uses of locks,
 * whose spans begin at the end of their segment.  No two threads share a position. */
void predict_mark_unsure(struct exec *x, const struct predict_span *spans);

#endif
