/* SPDX-License-Identifier: Apache-2.0 */
/* Inside sketch/: decides which events of a run are shown in a sketch. */
#ifndef SKETCH_MARKS_INT_H
#define SKETCH_MARKS_INT_H

#include "sketch/sketch.h"

/* Marks of events.  MARK_SHOW: the sketch shows the event.  MARK_NAMED: a predictor refers to the
 * event.  MARK_TELLS: the event alone distinguishes failing from passing runs. */
enum { MARK_SHOW = 1, MARK_NAMED = 2, MARK_TELLS = 8 };

/* Returns an array with the marks of each event of the run.  The caller must free it.  `shown` is
 * indexed by statement.  For a failing run, this function sets shown[i] if statement i is shown;
 * for a passing run, it shows the statements whose entries are set. */
unsigned char *marks_make(const struct sketch *s, const struct sketch_run *run, bool *shown);

/* Returns true if two events belong to the same thread and line. */
bool marks_is_same_line(const struct sketch_runs *runs, const struct sketch_event *a,
			const struct sketch_event *b);

bool marks_is_creation(const struct sketch *s, const struct sketch_event *e);

#endif
