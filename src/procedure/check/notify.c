// SPDX-License-Identifier: Apache-2.0
/*
 * Events of a check (check.h).  In: events and confirmed findings.  Out: calls of the check's
 * single callback.  Each confirmation is reported once, as soon as it is known.  The final report
 * only counts it.
 */
#include "check/act-int.h"

#include "base/error.h"
#include "finding/save.h"

#include <string.h>

void check_notify(const struct check *c, const struct check_event *event)
{
	if (c->opts->notify)
		c->opts->notify(c->opts->context, event);
}

/* Fingerprints are compared, because the replay of one prediction may confirm another one. */
bool check_is_reported(const struct finding_set *set, struct finding *f)
{
	finding_identify(f);
	for (size_t i = 0; set && i < set->count; i++)
		if (set->items[i]->announced && strcmp(set->items[i]->fingerprint, f->fingerprint) == 0)
			return true;
	return false;
}

/* If the schedule cannot be saved, nothing is reported here.  The final report tries again and
 * gives the reason. */
void check_notify_confirmed(struct check *c, struct finding_set *set, struct finding *f)
{
	RD_ASSERT(f->status == FINDING_CONFIRMED);
	if (c->opts->quiet || f->announced || check_is_reported(set, f) ||
	    check_is_reported(c->predicted.seen, f) || check_filter(c, set) || !finding_is_fresh(f))
		return;
	if (f->schedule && finding_save_schedule(c->set, f, c->claim.path))
		return;
	check_notify(c, &(struct check_event){.kind = CHECK_CONFIRMED, .set = set, .finding = f});
}
