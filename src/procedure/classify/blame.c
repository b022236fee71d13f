// SPDX-License-Identifier: Apache-2.0
/*
 * Decides whether a part is a cause of an effect (classify/blame-int.h).  In: answers to questions
 * about sets of parts.  Out: whether a set exists that shows the effect only with this part.
 *
 * Two questions decide most cases: whether the part shows the effect alone, and whether all other
 * parts show it without this one.  After these, sets of the other parts are tried, the smallest
 * first.  No question is needed about a set that contains a set known to show the effect.
 */
#include "classify/blame-int.h"

#include "base/error.h"

struct answers {
	const struct blame *b;
	unsigned asked;
	uint32_t showing[64]; /* sets without the part that show the effect */
	unsigned count;
	int err;
};

static bool may_ask(const struct answers *a)
{
	return !a->err && a->asked < a->b->most && a->count < sizeof a->showing / sizeof *a->showing;
}

static bool ask(struct answers *a, uint32_t parts)
{
	bool shows = false;

	a->asked++;
	a->err = a->b->shows(a->b->context, parts, &shows);
	return !a->err && shows;
}

/* Returns true if this set of other parts contains a set that is known to show the effect. */
static bool is_implied(const struct answers *a, uint32_t parts)
{
	for (unsigned i = 0; i < a->count; i++)
		if ((a->showing[i] & parts) == a->showing[i])
			return true;
	return false;
}

/* Returns true if these other parts show the effect only together with the part in question. */
static bool needs_own(struct answers *a, uint32_t others)
{
	uint32_t own = UINT32_C(1) << a->b->own;

	if (is_implied(a, others) || !ask(a, others | own) || !may_ask(a))
		return false;
	if (!ask(a, others))
		return !a->err;
	a->showing[a->count++] = others;
	return false;
}

/* Returns the next set with the same number of parts or, after the last of these, the first set
 * with one more part (Gosper's method). */
static uint32_t next_set(uint32_t set, unsigned parts)
{
	uint64_t low = set & -set, high = (uint64_t)set + low, next = high | (((high ^ set) >> 2) / low);
	unsigned size = (unsigned)__builtin_popcount(set);

	if (next >> parts == 0)
		return (uint32_t)next;
	return size < parts ? (uint32_t)((UINT64_C(2) << size) - 1) : 0;
}

/* Converts a set of other parts, in which the part in question has no bit, to a set of all
 * parts. */
static uint32_t with_gap(uint32_t others, unsigned own)
{
	uint32_t below = (UINT32_C(1) << own) - 1;

	return (others & below) | (others & ~below) << 1;
}

static bool search(struct answers *a)
{
	const struct blame *b = a->b;
	unsigned count = b->parts - 1;
	bool found = false;

	for (uint32_t set = 1; set && count && !found && may_ask(a); set = next_set(set, count))
		found = needs_own(a, with_gap(set, b->own));
	return found;
}

int blame_find(const struct blame *b, bool *cause)
{
	struct answers a = {.b = b};
	uint32_t own = UINT32_C(1) << b->own, all;

	RD_ASSERT(b->parts && b->parts <= BLAME_PARTS && b->own < b->parts);
	all = b->parts == 32 ? UINT32_MAX : (UINT32_C(1) << b->parts) - 1;
	*cause = b->parts == 1;
	if (!*cause && may_ask(&a))
		*cause = ask(&a, own);
	if (!*cause && may_ask(&a)) {
		*cause = !ask(&a, all & ~own) && !a.err;
		if (!*cause)
			a.showing[a.count++] = all & ~own;
	}
	if (!*cause && may_ask(&a))
		*cause = search(&a);
	*cause &= !a.err;
	return a.err;
}
