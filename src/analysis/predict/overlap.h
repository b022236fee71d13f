/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses that ran while another thread wrote the same variable: who came first is not
 * recorded (EXEC_UNSURE of exec.h).
 */
#ifndef PREDICT_OVERLAP_H
#define PREDICT_OVERLAP_H

#include "order/exec.h"

/* When an event happened, in places of the order that is recorded: after the operation at
 * `begin` and before the one at `end`.  Both are equal if that very place is its own. */
struct predict_span {
	uint32_t begin, end;
};

/* Marks the accesses.  `spans` has one for each event, and their begins ascend, but for uses of locks and so
 * on, which begin at the end of their segment.  No two threads have a place in common. */
void predict_mark_unsure(struct exec *x, const struct predict_span *spans);

#endif
