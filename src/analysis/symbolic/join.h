/* SPDX-License-Identifier: Apache-2.0 */
/* Two traces as one, to compare what they wrote. */
#ifndef SYMBOLIC_JOIN_H
#define SYMBOLIC_JOIN_H

#include "symbolic/solve.h"

struct sym_join {
	struct sym_trace trace; /* variables are those of the first */
	uint32_t *node;		/* of the second trace, in this one; 0: it has none */
	uint32_t differs;	/* a condition: something that was written differs; 0: it cannot */
	struct sym_fact *facts; /* the conditions of both paths, and that one at the end */
	size_t fact_count;
	bool complete; /* all of it could be compared: if the facts cannot hold, what is written is the same
			*/
};

/* The traces must live as long.  To be released. */
void sym_join(struct sym_join *j, const struct sym_trace *a, const struct sym_trace *b);
void sym_join_release(struct sym_join *j);

#endif
