// SPDX-License-Identifier: Apache-2.0
/*
 * What a check tells (check.h).  In: events, findings that were confirmed.  Out: calls of the one callback.
 * Each confirmation is told once, when it comes; the report at the end counts it.
 */
#include "check/act-int.h"

#include "base/error.h"
#include "finding/save.h"

#include <string.h>

void check_tell(const struct check *c, const struct check_event *event)
{
	if (c->opts->tell)
		c->opts->tell(c->opts->context, event);
}

/* A replay may end in what another prediction is about. */
bool check_is_told(const struct finding_set *set, struct finding *f)
{
	finding_identify(f);
	for (size_t i = 0; set && i < set->count; i++)
		if (set->items[i]->told && strcmp(set->items[i]->fingerprint, f->fingerprint) == 0)
			return true;
	return false;
}

/* If something fails here the report at the end tries again, and says why. */
void check_tell_confirmed(struct check *c, struct finding_set *set, struct finding *f)
{
	RD_ASSERT(f->status == FINDING_CONFIRMED);
	if (c->opts->quiet || f->told || check_is_told(set, f) || check_is_told(c->seen, f) ||
	    check_filter(c, set) || !finding_is_fresh(f))
		return;
	if (f->schedule && finding_save_schedule(c->set, f, c->claim.path))
		return;
	check_tell(c, &(struct check_event){.kind = CHECK_CONFIRMED, .set = set, .finding = f});
}
