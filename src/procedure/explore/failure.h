/* SPDX-License-Identifier: Apache-2.0 */
/* Inside explore/: how a run failed, and that as a finding. */
#ifndef EXPLORE_FAILURE_H
#define EXPLORE_FAILURE_H

#include "explore/note.h"

/* What a failure of a run that ended by itself is called; NULL: it did not fail. */
#define FAILURE_STATUS "exit-status"
#define FAILURE_JUDGED "fail-if"

/* Fills in what failed, where and by which thread; nothing if the run did not fail.  `judged` is one of the
 * two above, or NULL: it did not fail by what it did in the end. */
void failure_describe(struct note *n, const struct trial *t, const struct replay_result *r,
		      const struct trace_sites *sites, const char *judged, struct rd_arena *arena);

/* Whether both are the same failure. */
bool failure_is_same(const struct note *a, const struct note *b);

/* Adds it to the set: confirmed, with this schedule, of which it takes a copy.  `seen` says how often and
 * when, a sentence. */
int failure_add(struct finding_set *set, const struct note *n, const struct schedule *s, const char *seen);

#endif
