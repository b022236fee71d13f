// SPDX-License-Identifier: Apache-2.0
/* Decides whether an analysis has enough of a run (enough.h).  The function depends only on its
 * arguments. */
#include "record/enough.h"

bool record_has_enough(const struct record_enough *e, int64_t now_ns, uint64_t events, int64_t last_ns,
		       bool *full, bool *quiet)
{
	int64_t left_ns = e->end_ns - now_ns;

	/* If no time is left, this rule does not apply.  The limits of the run do. */
	*full = e->end_ns && e->event_ns && left_ns > 0 &&
		events >= (uint64_t)(left_ns + e->event_ns - 1) / (uint64_t)e->event_ns;
	*quiet = e->quiet_ns && now_ns - last_ns >= e->quiet_ns;
	return *full || *quiet;
}
