/* SPDX-License-Identifier: Apache-2.0 */
/* Which inputs may change: those that the user names, or those that most branches depend on. */
#ifndef SYMBOLIC_CHOOSE_H
#define SYMBOLIC_CHOOSE_H

#include "symbolic/trace.h"

#define SYM_INPUTS 2 /* as many as the thesis, unless the user says which */

/* An input that may change, and which of its bytes. */
struct sym_wish {
	enum rd_override_kind kind;
	unsigned number;
	char *name;
	uint64_t first, last;
};

struct sym_wishes {
	struct sym_wish *items;
	size_t count, capacity;
};

/* "argv:1,stdin:0-63,file:PATH:0-255,env:NAME".  To be released also after a failure. */
int sym_wishes_parse(struct sym_wishes *w, const char *text);
void sym_wishes_release(struct sym_wishes *w);

/* By variable: whether it stays as it is.  Without wishes the SYM_INPUTS inputs are chosen that most branches
 * and outputs depend on, here and in a trace of the other order; branches behind the race count double.
 * Returns a bit for each input that may change. */
uint64_t sym_choose(const struct sym_trace *t, const struct sym_trace *other, const struct sym_wishes *w,
		    bool *fixed);

#endif
