/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that helps to explain a failure.  The program runs in its flavour `track`, without guards,
 * and the record of the run is sent to the hive (sketch/plan.h).  The cost of the run is limited,
 * no matter what the hive requests: a gate is closed after SITE_TRACK_BUDGET events.  No thread
 * ever waits.
 */
#ifndef SITE_TRACK_INT_H
#define SITE_TRACK_INT_H

#include "site/session-int.h"
#include "protocol/task-set.h"

#include <stdbool.h>

/* The number of events after which a gate is closed, and the number of a run's last events that
 * are kept.  Set by hand: both are smaller than on a developer's machine (TRACK_EVENTS), because
 * the program is in production. */
enum { SITE_TRACK_BUDGET = 256, SITE_TRACK_EVENTS = 1 << 14 };

struct site_tracking;

/* Prepares a tracked run.  Returns NULL if this run cannot be tracked.  If `verbose` is set, the
 * reason is logged. */
struct site_tracking *site_tracking_open(const char *program, const struct protocol_task *task, bool verbose);
void site_tracking_close(struct site_tracking *k); /* k may be NULL */

/* These return the path of the program's flavour, and the shared memory with which it is
 * started. */
const char *site_tracking_executable(const struct site_tracking *k);
struct site_given site_tracking_given(const struct site_tracking *k);

/* If the run passed or showed the failure of the task, adds its record as a line.  `status` is the
 * wait status of the run.  If `values` is set, the record includes values of memory. */
void site_tracking_report(struct site_tracking *k, int status, const char *run, bool values,
			  struct rd_buf *lines);

#endif
