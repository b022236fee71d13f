// SPDX-License-Identifier: Apache-2.0
/*
 * Disables a region as soon as no guard in it has a flag.  The agent does that as well, but on a
 * busy machine it may have to wait long for a processor.  Until then, the program would pay for the
 * region.
 */
#include "rt/guard/guard.h"

/* Returns true if a guard of the region has a flag.  Follows the ring of all guards in the
 * region. */
static bool is_asked(uint32_t place)
{
	uint32_t at = place;

	for (uint32_t n = 0; n < guard.place_count; n++) {
		const struct raddle_guard_place *p = &guard.places[at];

		if (p->guard >= guard.guard_count || p->next >= guard.place_count)
			return true; /* the ring is invalid: the agent will disable the region */
		if (__raddle_guard_flags[p->guard])
			return true;
		at = p->next;
		if (at == place)
			return false;
	}
	return true;
}

/* The agent sets a flag first and the region's byte second.  So a thread that has cleared the byte
 * checks the flags again. */
static void settle(uint32_t place)
{
	uint32_t region = guard.places[place].region;

	if (region >= RADDLE_GUARDS || is_asked(place))
		return;
	__atomic_store_n(&__raddle_guard_regions[region], 0, __ATOMIC_SEQ_CST);
	if (is_asked(place))
		__atomic_store_n(&__raddle_guard_regions[region], 1, __ATOMIC_SEQ_CST);
}

void guard_settle(uint32_t guard_number)
{
	uint32_t end;

	if (!guard.place_count || __raddle_guard_flags[guard_number])
		return;
	end = guard.first[guard_number + 1];
	for (uint32_t i = guard.first[guard_number]; i < end && i < guard.place_count; i++)
		settle(i);
}
