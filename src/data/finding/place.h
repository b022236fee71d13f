/* SPDX-License-Identifier: Apache-2.0 */
/* Places from a site table, for findings and schedules.  Unknown parts of a place are NULL or 0. */
#ifndef FINDING_PLACE_H
#define FINDING_PLACE_H

#include "finding/finding.h"
#include "finding/schedule.h"
#include "trace/sites.h"

/* Returns the place of a site.  The schedule keeps copies of the strings.  If it is NULL, the
 * strings are those of the table. */
struct schedule_place schedule_place_of(struct schedule *s, const struct trace_sites *sites, uint32_t site);

/* Writes the frames of a site, innermost first: its function, then those that it was inlined into.
 * Returns how many there are, at least one.  If `frames` is NULL, only counts them. */
size_t finding_put_frames(struct finding_set *set, const struct trace_sites *sites, uint32_t site,
			  struct finding_frame *frames);

/* Does the same as finding_put_frames() and returns the frames as a stack. */
struct finding_stack finding_stack_at(struct finding_set *set, const struct trace_sites *sites,
				      uint32_t site);

/* Returns a stack with the frame of the place; empty if the place is not known. */
struct finding_stack finding_stack_of(struct finding_set *set, const struct schedule_place *place);

#endif
