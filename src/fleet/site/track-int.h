/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that helps to explain a failure.  The program runs in its flavour `track`, which records
 * events at gates and has no guards.  The record of the run is sent to the hive (sketch/plan.h).
 * The cost of the run is limited, no matter what the hive requests: a gate is closed after
 * SITE_TRACK_BUDGET events, and no thread ever waits.
 */
#ifndef SITE_TRACK_INT_H
#define SITE_TRACK_INT_H

#include "site/session-int.h"
#include "protocol/task-set.h"

#include <stdbool.h>

/* The number of events after which a gate is closed, and the number of events that are kept from
 * the end of a run.  Both are smaller than on a developer's machine (TRACK_EVENTS), because the
 * program is in production. */
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

/* Appends the record of the run to `lines`, if the run passed or showed the failure of the task.
 * `status` is the wait status of the program.  If `values` is set, the record includes values of
 * memory. */
void site_tracking_report(struct site_tracking *k, int status, const char *run, bool values,
			  struct rd_buf *lines);

#endif
