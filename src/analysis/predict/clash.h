/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operations of a schedule must come in its order, since another order would
 * be another execution, and which orders the program keeps by itself (clash.c).
 */
#ifndef PREDICT_CLASH_H
#define PREDICT_CLASH_H

#include "predict/line.h"

/* Operation `to` must not come before `from`, and only a schedule can see to it. */
struct clash {
	uint32_t from, to;
};

struct clashes {
	struct clash *items;
	size_t count, capacity;
	uint8_t *forced; /* by operation: it must be named whatever its order */
};

/* Collects the clashes that neither the program nor the others imply. */
void predict_clashes(const struct line *l, struct clashes *c);

/* Whether the order of the operations with listed[] set implies all others. */
bool predict_clashes_implied(const struct line *l, const uint8_t *listed);

#endif
