/* SPDX-License-Identifier: Apache-2.0 */
/* Joins two traces into one, to compare their output. */
#ifndef SYMBOLIC_JOIN_H
#define SYMBOLIC_JOIN_H

#include "symbolic/solve.h"

struct sym_join {
	struct sym_trace trace; /* its variables are those of the first trace */
	/* Maps each node of the second trace to its number in `trace`, or to 0 if `trace` does not
	 * contain the node. */
	uint32_t *node;
	/* The condition that some output differs; 0 if there is no such condition. */
	uint32_t differs;
	/* The conditions of both paths.  The last one is `differs`, unless that is 0. */
	struct sym_fact *facts;
	size_t fact_count;
	/* True if all output was compared.  In this case, the two orders cannot have different
	 * output if the facts contradict each other. */
	bool complete;
};

/* Joins two traces.  The result does not refer to them.  The caller must release it. */
void sym_join(struct sym_join *j, const struct sym_trace *a, const struct sym_trace *b);
void sym_join_release(struct sym_join *j);

#endif
