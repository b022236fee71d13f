/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the bugs of two checks of a program.  In: two sets of findings.  Out: the bugs that are
 * new, those that are gone, and those that both checks have.  Only confirmed bugs count.
 *
 * 	finding_diff_make(&d, old, new);
 * 	for (size_t i = 0; i < d.count; i++)
 * 		print(d.items[i].change, d.items[i].bug);
 * 	finding_diff_release(&d);
 */
#ifndef FINDING_DIFF_H
#define FINDING_DIFF_H

#include "finding/bug.h"

enum finding_change { FINDING_NEW, FINDING_FIXED, FINDING_STILL, FINDING_CHANGES };

struct finding_difference {
	enum finding_change change;
	const struct finding_bug *bug; /* of the new check; for FINDING_FIXED, of the old one */
};

struct finding_diff {
	struct finding_difference *items; /* by change, the worst bugs first */
	size_t count;
	size_t counts[FINDING_CHANGES];
	struct finding_bugs before, after;
};

/* The result refers to both sets. */
void finding_diff_make(struct finding_diff *d, const struct finding_set *before,
		       const struct finding_set *after);
void finding_diff_release(struct finding_diff *d);

const char *finding_change_name(enum finding_change change); /* "new", "fixed" or "still" */

#endif
