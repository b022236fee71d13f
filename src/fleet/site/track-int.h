/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that helps to explain a failure.  The program runs in its flavour `track`, without
 * guards, and the record of the run is sent to the hive (sketch/plan.h).  Its cost is limited,
 * whatever the hive requests: a gate is closed after SITE_TRACK_BUDGET events.  No thread ever
 * waits.
 */
#ifndef SITE_TRACK_INT_H
#define SITE_TRACK_INT_H

#include "site/session-int.h"
#include "protocol/task-set.h"

#include <stdbool.h>

/* The number of events after which a gate is closed, and the number of last events of a run that
 * are kept.  Set by hand: less than on a developer's machine (TRACK_EVENTS), because the program is
 * in production. */
enum { SITE_TRACK_BUDGET = 256, SITE_TRACK_EVENTS = 1 << 14 };

struct site_tracking;

/* Prepares a tracked run; NULL if this run cannot be tracked.  With `verbose`, the reason is
 * logged. */
struct site_tracking *site_tracking_open(const char *program, const struct protocol_task *task, bool verbose);
void site_tracking_close(struct site_tracking *k); /* k may be NULL */

/* The path of the program's flavour, and the shared memory with which it is started. */
const char *site_tracking_executable(const struct site_tracking *k);
struct site_given site_tracking_given(const struct site_tracking *k);

/* Adds the record of a run as a line, if the run passed or showed the failure of the task.
 * `status` is its wait status.  With `values`, the record includes values of memory. */
void site_tracking_report(struct site_tracking *k, int status, const char *run, bool values,
			  struct rd_buf *lines);

#endif
