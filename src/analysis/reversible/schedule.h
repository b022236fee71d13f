/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule that leads a run of the program to a reversal. */
#ifndef REVERSIBLE_SCHEDULE_H
#define REVERSIBLE_SCHEDULE_H

#include "finding/schedule.h"
#include "reversible/reversible.h"

/* Makes *s, which is to be released in any case; the caller adds the names of the program and the trace.
 * false: no schedule of operations leads there. */
bool rev_schedule(const struct rev_result *x, const struct trace_sites *sites, const struct rev_reversal *v,
		  struct schedule *s);

#endif
