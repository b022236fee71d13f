/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the operations of a schedule that must keep their order, because swapping them would
 * result in a different execution.  Omits orders that the program enforces by itself (clash.c).
 */
#ifndef PREDICT_CLASH_INT_H
#define PREDICT_CLASH_INT_H

#include "predict/line-int.h"

/* Operation `to` must not come before `from`, and only a schedule can enforce that. */
struct clash {
	uint32_t from, to;
};

struct clashes {
	struct clash *items;
	size_t count, capacity;
	/* For each operation, nonzero if the schedule must name the operation in any case. */
	uint8_t *forced;
};

/* Collects the clashes whose order follows neither from the program nor from other clashes. */
void predict_clashes(const struct event_line *l, struct clashes *c);

/* Returns true if the order of all clashes follows from the order of the operations that have
 * listed[] set. */
bool predict_clashes_implied(const struct event_line *l, const uint8_t *listed);

#endif
