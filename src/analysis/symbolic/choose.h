/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the inputs that may change: those that the user selects, or those on which most branches
 * depend. */
#ifndef SYMBOLIC_CHOOSE_H
#define SYMBOLIC_CHOOSE_H

#include "symbolic/trace.h"

/* The number of inputs that may change by default, as in Kasikci's thesis (doc/design/paths.md). */
#define SYM_INPUTS 2

/* An input that may change, and the range of its bytes that may change. */
struct sym_selector {
	enum rd_override_kind kind;
	unsigned number;
	char *name;
	uint64_t first, last;
};

struct sym_selection {
	struct sym_selector *items;
	size_t count, capacity;
};

/* Parses a selection such as "argv:1,stdin:0-63,file:PATH:0-255,env:NAME".  The caller must release
 * it, even after a failure. */
int sym_selection_parse(struct sym_selection *w, const char *text);
void sym_selection_release(struct sym_selection *w);

/* Decides which inputs may change, and returns them as a bit mask.  Sets `fixed` to true for each
 * variable that must keep its value.  Without a selection, the function chooses the SYM_INPUTS
 * inputs on which most branches and outputs depend.  It considers this trace and `other`, in which
 * the racing accesses happen in the other order.  Branches after the race count double. */
uint64_t sym_choose(const struct sym_trace *t, const struct sym_trace *other, const struct sym_selection *w,
		    bool *fixed);

#endif
