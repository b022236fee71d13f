// SPDX-License-Identifier: Apache-2.0
/* The differences between two checks.  Bugs are the same if their ids are; see bug.c. */
#include "finding/diff.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

const char *finding_change_name(enum finding_change change)
{
	static const char *const names[FINDING_CHANGES] = {"new", "fixed", "still"};

	RD_ASSERT(change < FINDING_CHANGES);
	return names[change];
}

static bool counts(const struct finding_bug *bug)
{
	return bug->findings[0]->status == FINDING_CONFIRMED;
}

/* Returns true if the check still sees the bug.  A check that could not confirm it this time, for
 * instance because its time was up, does not show that the bug is fixed. */
static bool has(const struct finding_bugs *bugs, const char *id)
{
	for (size_t i = 0; i < bugs->count; i++)
		if (!strcmp(bugs->items[i].id, id))
			return bugs->items[i].findings[0]->status != FINDING_DROPPED;
	return false;
}

/* Adds the bugs of one check that the other check has, or has not. */
static void add(struct finding_diff *d, enum finding_change change, const struct finding_bugs *from,
		const struct finding_bugs *other, bool in_both)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct finding_bug *bug = &from->items[i];

		if (!counts(bug) || has(other, bug->id) != in_both)
			continue;
		d->items[d->count++] = (struct finding_difference){change, bug};
		d->counts[change]++;
	}
}

void finding_diff_make(struct finding_diff *d, const struct finding_set *before,
		       const struct finding_set *after)
{
	*d = (struct finding_diff){0};
	finding_bugs_list(&d->before, before);
	finding_bugs_list(&d->after, after);
	d->items = rd_xcalloc(d->before.count + d->after.count + 1, sizeof *d->items);
	add(d, FINDING_NEW, &d->after, &d->before, false);
	add(d, FINDING_FIXED, &d->before, &d->after, false);
	add(d, FINDING_STILL, &d->after, &d->before, true);
}

void finding_diff_release(struct finding_diff *d)
{
	free(d->items);
	finding_bugs_release(&d->before);
	finding_bugs_release(&d->after);
	*d = (struct finding_diff){0};
}
