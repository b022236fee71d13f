/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds accesses that ran while another thread wrote the same variable; the order of the two was
 * not recorded (EXEC_UNSURE in exec.h).
 */
#ifndef PREDICT_OVERLAP_INT_H
#define PREDICT_OVERLAP_INT_H

#include "order/exec.h"

/* When an event happened, as places in the recorded order: after the operation at `begin` and
 * before the one at `end`.  Both are equal if the event has a place of its own. */
struct predict_span {
	uint32_t begin, end;
};

/* Marks the accesses.  `spans` has one for each event; their begins ascend.  Uses of locks are an
 * exception: they begin at the end of their segment.  No two threads share a place. */
void predict_mark_unsure(struct exec *x, const struct predict_span *spans);

#endif
