/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the schedule that leads a run of the program to a reversal. */
#ifndef REVERSIBLE_SCHEDULE_H
#define REVERSIBLE_SCHEDULE_H

#include "finding/schedule.h"
#include "reversible/reversible.h"

/* Makes the schedule *s, which the caller must release even if the function fails.  The caller also
 * adds the names of the program and the trace.  Returns false if no schedule of operations leads to
 * the reversal. */
bool rev_schedule(const struct rev_result *x, const struct trace_sites *sites, const struct rev_reversal *v,
		  struct schedule *s);

#endif
