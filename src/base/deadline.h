/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines are times on the clock of base/clock.h at which something must end.  0 means never. */
#ifndef BASE_DEADLINE_H
#define BASE_DEADLINE_H

#include "base/clock.h"

#include <stdbool.h>

/* Returns the deadline `time_ns` after the start, or 0 if `time_ns` is 0, which means never. */
static inline int64_t rd_deadline(int64_t start_ns, int64_t time_ns)
{
	return time_ns ? start_ns + time_ns : 0;
}

static inline bool rd_deadline_passed(int64_t deadline_ns)
{
	return deadline_ns && rd_now_ns() >= deadline_ns;
}

/* Returns the time left, or 0 if the deadline has passed.  Also returns 0 if there is no deadline,
 * because progress lines then show no time. */
static inline int64_t rd_deadline_left_ns(int64_t deadline_ns)
{
	int64_t left = deadline_ns ? deadline_ns - rd_now_ns() : 0;

	return left > 0 ? left : 0;
}

static inline double rd_deadline_left_s(int64_t deadline_ns)
{
	return (double)rd_deadline_left_ns(deadline_ns) / 1e9;
}

/* Returns the deadline for a part of the work, which may take `share` (at most 1) of the time
 * left. */
static inline int64_t rd_deadline_share(int64_t deadline_ns, double share)
{
	int64_t now = rd_now_ns(), left = deadline_ns > now ? deadline_ns - now : 0;

	return deadline_ns ? now + (int64_t)((double)left * share) : 0;
}

#endif
