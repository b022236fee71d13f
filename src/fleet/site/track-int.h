/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that helps to explain a failure: the program in its flavour `track` instead of with guards,
 * and the record of the run for the hive (sketch/plan.h).  What it may cost has a bound, whatever
 * the hive asks for: a gate that has had SITE_TRACK_BUDGET events is shut.  No thread ever waits.
 */
#ifndef SITE_TRACK_INT_H
#define SITE_TRACK_INT_H

#include "site/session-int.h"
#include "protocol/task-set.h"

#include <stdbool.h>

/* Events after which a gate is shut, and events that are kept of a run, the last ones.  Judgements:
 * less than on a developer's machine (TRACK_EVENTS), since the program is in production. */
enum { SITE_TRACK_BUDGET = 256, SITE_TRACK_EVENTS = 1 << 14 };

struct site_tracking;

/* NULL: this run cannot be tracked; with `verbose` the reason is logged. */
struct site_tracking *site_tracking_open(const char *program, const struct protocol_task *task, bool verbose);
void site_tracking_close(struct site_tracking *k); /* may be NULL */

/* What the program is started as, and with. */
const char *site_tracking_executable(const struct site_tracking *k);
struct site_given site_tracking_given(const struct site_tracking *k);

/* Adds the record of a run that ended with that status of waitpid(), as a line, if it passed or
 * showed the failure of the task.  With `values`, the record has values of memory. */
void site_tracking_report(struct site_tracking *k, int status, const char *run, bool values,
			  struct rd_buf *lines);

#endif
