/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the schedule that leads a run of the program to a reversal. */
#ifndef REVERSIBLE_SCHEDULE_H
#define REVERSIBLE_SCHEDULE_H

#include "finding/schedule.h"
#include "reversible/reversible.h"

/* Makes the schedule *s, which leads to the reversal `v`: two events in the opposite of their
 * recorded order.  Returns false if no schedule of operations leads to it.  The caller adds the
 * names of the program and the trace, and must release *s even if the function fails. */
bool rev_schedule(const struct rev_result *x, const struct trace_sites *sites, const struct rev_reversal *v,
		  struct schedule *s);

#endif
