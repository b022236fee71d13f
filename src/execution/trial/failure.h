/* SPDX-License-Identifier: Apache-2.0 */
/* Describes how a run failed, and makes findings of failures. */
#ifndef TRIAL_FAILURE_H
#define TRIAL_FAILURE_H

#include "finding/finding.h"
#include "trace/sites.h"
#include "trial/trial.h"

/* Values of `fault` for a run that ended by itself but failed, according to its exit status or to
 * the user's command. */
#define FAILURE_STATUS "exit-status"
#define FAILURE_JUDGED "fail-if"

struct failure {
	const char *fault;    /* what failed, or NULL if the run did not fail */
	const char *end_text; /* how the run ended, as a sentence */
	/* "file:line: function", or NULL if unknown; for a deadlock, a line for each thread */
	const char *place;
	/* for a hang: a line for each thread that waits in a loop, with its name and place;
	 * otherwise NULL.  It may differ from run to run. */
	const char *loops;
	const char *thread; /* the thread that failed, or NULL if unknown */
	const char *test;   /* the case of a test suite that failed, or NULL if no case is named */
};

/* Fills in what failed, where and in which thread.  If the run did not fail, fills in only the end
 * and the thread.  `judged` is FAILURE_STATUS or FAILURE_JUDGED, or NULL if neither the exit
 * status nor the user's command shows a failure. */
void failure_describe(struct failure *f, const struct trial *t, const struct replay_result *r,
		      const struct trace_sites *sites, const char *judged, struct rd_arena *arena);

/* Returns true if `a` and `b` are the same failure. */
bool failure_is_same(const struct failure *a, const struct failure *b);

/* Adds the failure to the set as a confirmed finding, with a copy of schedule `s`.  `seen` is a
 * sentence about how often and when the failure happened. */
int failure_add(struct finding_set *set, const struct failure *f, const struct schedule *s, const char *seen);

#endif
