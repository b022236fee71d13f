/* SPDX-License-Identifier: Apache-2.0 */
/* Converts places of a site table for findings and schedules.  Unknown parts of a place are NULL or
 * 0. */
#ifndef FINDING_PLACE_H
#define FINDING_PLACE_H

#include "finding/finding.h"
#include "finding/schedule.h"
#include "trace/sites.h"

/* Returns the place of a site.  The schedule `s` keeps copies of the strings.  If `s` is NULL, the
 * strings belong to the site table. */
struct schedule_place schedule_place_of(struct schedule *s, const struct trace_sites *sites, uint32_t site);

/* Stores the call frames of a site in `frames`, innermost first: the function of the site, then
 * the functions into which that function was inlined.  Returns the number of frames, which is at
 * least one.  If `frames` is NULL, only counts the frames. */
size_t finding_put_frames(struct finding_set *set, const struct trace_sites *sites, uint32_t site,
			  struct finding_frame *frames);

/* Does the same as finding_put_frames() and returns the frames as a stack. */
struct finding_stack finding_stack_at(struct finding_set *set, const struct trace_sites *sites,
				      uint32_t site);

/* Returns a stack with the frame of the place.  The stack is empty if the place is not known. */
struct finding_stack finding_stack_of(struct finding_set *set, const struct schedule_place *place);

#endif
