/* SPDX-License-Identifier: Apache-2.0 */
/* Inside sketch/: which events of a run a sketch shows. */
#ifndef SKETCH_MARKS_INT_H
#define SKETCH_MARKS_INT_H

#include "sketch/sketch.h"

/* Marks of events.  MARK_SHOW: the sketch shows the event.  MARK_NAMED: a predictor refers to the
 * event.  MARK_TELLS: the event alone distinguishes failing from passing runs. */
enum { MARK_SHOW = 1, MARK_NAMED = 2, MARK_TELLS = 8 };

/* Returns the marks of the run's events, which the caller frees.  `shown` is indexed by statement:
 * a failing run sets it for the statements that it shows, and a passing run shows the same
 * statements. */
unsigned char *marks_make(const struct sketch *s, const struct sketch_run *run, bool *shown);

/* Whether two events belong to the same thread and line. */
bool marks_is_same_line(const struct sketch_runs *runs, const struct sketch_event *a,
			const struct sketch_event *b);

/* Whether the event creates a thread. */
bool marks_is_creation(const struct sketch *s, const struct sketch_event *e);

#endif
