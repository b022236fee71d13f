/* SPDX-License-Identifier: Apache-2.0 */
/* Inside explore/: begins the log file of an exploration, resumes from it, and appends to it.
 * explore/log.h defines the lines of the log. */
#ifndef EXPLORE_JOURNAL_INT_H
#define EXPLORE_JOURNAL_INT_H

#include "explore/state-int.h"

struct journal {
	struct explore_state *state; /* learns from the notes */
	struct rd_arena *arena;	     /* owns the notes that are read */
	int fd;			     /* descriptor of the log, or -1 if there is none */
};

/* Opens the log if struct explore names one.  The caller closes the journal even after a
 * failure. */
int journal_open(struct journal *j, struct explore_state *state, struct rd_arena *arena);
int journal_close(struct journal *j);

/* journal_take() learns from the notes in a worker's answer, and appends them to the log.
 * journal_learn() only learns. */
void journal_learn(struct journal *j, const char *answer, size_t length);
int journal_take(struct journal *j, const char *answer, size_t length);

#endif
