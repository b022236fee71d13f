/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tier 1: the sync-preserving closure.
 *
 * An ideal is a set of events that contains all predecessors of its members.  It is sync-preserving
 * if its events can run in the recorded order.  This means that if two critical sections that
 * exclude each other have both begun in the ideal, the earlier one has ended in it.  The closure of
 * an ideal adds the missing releases with their needs until no section violates this rule.
 *
 * The union of closed ideals can violate this rule only at sections that are open in the union.
 * Such a section is open in one operand, and a later one has begun in the other.  So it is enough
 * to look at the open sections, of which there are few.  For each thread that uses the lock, its
 * last acquisition inside the ideal is found by binary search.  To add a release means to add its
 * row, which is a closed ideal, because core_clocks() has already closed the rows of all earlier
 * events.
 *
 * Mathur, Pavlogiannis, Viswanathan: Optimal prediction of synchronization-preserving races, POPL
 * 2021.
 */
#include "predict/core-int.h"

#include "base/error.h"

/* Returns true if `p` contains the beginning of a conflicting section that began after `s` in the
 * trace. */
static bool later_rival(const struct core *c, const uint32_t *p, const struct section *s)
{
	for (uint32_t i = 0, last; core_next_rival(c, p, s, &i, &last);)
		if (last > s->acquire)
			return true;
	return false;
}

/* Ends the first open section of `thread` for which a later conflicting section has begun. */
static bool end_one(const struct core *c, uint32_t *p, uint32_t thread)
{
	RD_ASSERT(thread < c->threads);
	for (uint32_t h = core_open(c, thread, p[thread]); h != NONE; h = c->sections.holds[h].next) {
		const struct section *s = &c->sections.list[c->sections.holds[h].section];
		if (!later_rival(c, p, s))
			continue;
		RD_ASSERT(s->release != NONE);
		core_include(c, &c->closed, p, s->release);
		return true;
	}
	return false;
}

void predict_sp_close(const struct core *c, uint32_t *p)
{
	uint32_t clean = 0; /* number of threads examined since the last change */

	for (uint32_t t = 0; clean < c->threads; t = t + 1 == c->threads ? 0 : t + 1) {
		clean++;
		while (end_one(c, p, t))
			clean = 0;
	}
}
