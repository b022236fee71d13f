// SPDX-License-Identifier: Apache-2.0
/* Ranks findings by their classes, and decides whether a finding is bad enough to report. */
#include "finding/rank.h"

static bool is_as_bad(const struct finding *f, enum finding_class class)
{
	return class == FINDING_NO_CLASS || f->class == FINDING_NO_CLASS ||
	       finding_worse(f->class, class) == f->class;
}

bool finding_any_as_bad(const struct finding_set *set, enum finding_class class)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct finding *f = set->items[i];

		if (f->status == FINDING_CONFIRMED && finding_is_fresh(f) && is_as_bad(f, class))
			return true;
	}
	return false;
}

/* Returns the rank of a finding.  Among findings with a class, one without a class ranks as
 * follows: a deadlock or a failure ranks worst, and a race ranks directly after
 * FINDING_OUTPUT_DIFFERS. */
static unsigned rank_of(const struct finding *f)
{
	if (f->class != FINDING_NO_CLASS)
		return f->class * 2;
	return f->kind == FINDING_RACE ? FINDING_OUTPUT_DIFFERS * 2 + 1 : FINDING_SPEC_VIOLATED * 2;
}

void finding_sort_by_class(struct finding_set *set)
{
	/* Insertion sort, which is stable: findings with the same rank keep their order. */
	for (size_t i = 1; i < set->count; i++) {
		struct finding *f = set->items[i];
		size_t k = i;

		for (; k > 0 && set->items[k - 1]->status == f->status &&
		       rank_of(f) < rank_of(set->items[k - 1]);
		     k--)
			set->items[k] = set->items[k - 1];
		set->items[k] = f;
	}
}
