/* SPDX-License-Identifier: Apache-2.0 */
/* Two traces as one, to compare their output. */
#ifndef SYMBOLIC_JOIN_H
#define SYMBOLIC_JOIN_H

#include "symbolic/solve.h"

struct sym_join {
	struct sym_trace trace; /* variables are those of the first */
	uint32_t *node;		/* by node of the second trace: its number here; 0: it has none */
	uint32_t differs;	/* the condition that some output differs; 0: there is none */
	struct sym_fact *facts; /* the conditions of both paths; the last one is `differs`, if any */
	size_t fact_count;
	bool complete; /* everything was compared: if the facts cannot hold, the output is the same */
};

/* The caller releases the result, which does not refer to the two traces. */
void sym_join(struct sym_join *j, const struct sym_trace *a, const struct sym_trace *b);
void sym_join_release(struct sym_join *j);

#endif
