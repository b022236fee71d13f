/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that helps to explain a failure.  The program runs in its flavour `track` instead of with
 * guards, and the record of the run is sent to the hive (sketch/plan.h).  Its cost is limited,
 * whatever the hive asks for: a gate is shut after SITE_TRACK_BUDGET events.  No thread ever waits.
 */
#ifndef SITE_TRACK_INT_H
#define SITE_TRACK_INT_H

#include "site/session-int.h"
#include "protocol/task-set.h"

#include <stdbool.h>

/* The number of events after which a gate is shut, and the number of last events of a run that are
 * kept.  Judgements: less than on a developer's machine (TRACK_EVENTS), because the program is in
 * production. */
enum { SITE_TRACK_BUDGET = 256, SITE_TRACK_EVENTS = 1 << 14 };

struct site_tracking;

/* NULL: this run cannot be tracked; with `verbose` the reason is logged. */
struct site_tracking *site_tracking_open(const char *program, const struct protocol_task *task, bool verbose);
void site_tracking_close(struct site_tracking *k); /* may be NULL */

/* What the program is started as, and with. */
const char *site_tracking_executable(const struct site_tracking *k);
struct site_given site_tracking_given(const struct site_tracking *k);

/* Adds the record of a run as a line, if the run passed or showed the failure of the task.
 * `status` is its wait status.  With `values`, the record includes values of memory. */
void site_tracking_report(struct site_tracking *k, int status, const char *run, bool values,
			  struct rd_buf *lines);

#endif
