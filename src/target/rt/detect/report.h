/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports the races that the detector finds to the replayer.
 */
#ifndef RT_DETECT_REPORT_H
#define RT_DETECT_REPORT_H

#include "rt/detect/watch.h"

/* An access that is compared with earlier ones. */
struct rt_seen_access {
	uintptr_t block;
	uint64_t bits, who;
	uint32_t site;
	uint32_t read; /* the site of a read of the same bytes just before this access; or 0 */
};

/* Returns true if one of the accesses writes and not both are atomic. */
static inline bool rt_accesses_conflict(uint64_t a, uint64_t b)
{
	return ((a | b) & 3) == (RT_WHO_WRITE | RT_WHO_PLAIN);
}

/* Called for two accesses that conflict and that no operation orders.  If the detector may have
 * missed an operation since one of them, this access is treated as ordered before the other
 * ("forgiveness", rt/detect/watch.h).  Otherwise reports a race.  Returns true if the access in
 * the cell is treated as ordered before the current one.  The current access may be the older of
 * the two, because accesses are gathered before they are compared. */
__attribute__((noinline, cold)) bool rt_race_is_forgiven(const struct rt_seen_access *a,
							 const struct rt_cell *cell);

#endif
