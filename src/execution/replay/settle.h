/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settling findings: each is tried by replays, in one way after another, until it is confirmed, nothing is
 * left to try, or the time is up.  doc/design/replay.md says which is tried next and how.
 */
#ifndef REPLAY_SETTLE_H
#define REPLAY_SETTLE_H

#include "replay/replay.h"
#include "run/input.h"

/* How far it is. */
struct replay_progress {
	uint64_t total, done; /* findings; those that are confirmed or of which everything was tried */
	uint64_t confirmed;
	double seconds_left; /* of the time; 0 if there is no limit */
};

/* How the reason of a finding begins whose replay could not be done. */
#define REPLAY_IMPOSSIBLE "it could not be replayed: "

struct replay_settle { /* zero values are the defaults */
	const struct replay_program *program;
	const struct run_input *input; /* of every run */
	const char *companion, *setup; /* commands beside and before each run (run/companion.h) */
	const char *directory;	       /* for what replays leave: made, and removed in the end */
	unsigned jobs;		       /* replays at a time; 0: one */
	uint64_t timeout_ms;	       /* that one may take; 0: as in struct replay_request */
	uint64_t time;		       /* seconds that all of them may take; 0: any */
	uint64_t recorded_ms;	       /* as in struct replay_request */
	int recorded_signal;
	struct finding **all; /* every prediction, also those that are merged in another finding */
	size_t all_count;
	bool no_world;	/* what comes from outside is not given back */
	bool once;	/* one replay of each; what it does not confirm stays as it is */
	uint64_t extra; /* how many findings of runs that went another way may be added */

	/* Predicts from the trace of a run that went another way: adds findings to the set and finishes it.
	 * Called in a process of its own.  NULL: never. */
	int (*predict)(void *context, const char *trace, struct finding_set *set);
	void *predict_context;

	/* About ten times a second; may be NULL. */
	void (*progress)(void *context, const struct replay_progress *so_far);
	/* For each finding of the set that is confirmed, as soon as it is; may be NULL. */
	void (*confirmed)(void *context, struct finding *f);
	void *context;
};

struct replay_settled {
	uint64_t replayed, added;     /* findings */
	uint64_t replays, confirmed;  /* runs, and what came of them */
	uint64_t untried, unfinished; /* findings that the time did not suffice for, and of which not
					 everything was tried */
	bool interrupted;
	struct finding_set **sets; /* that own the findings with verdicts */
	size_t set_count, set_capacity;
};

/* Tries each finding of the set that waits for a verdict, several at once, and puts the one with the verdict
 * in its place.  What runs that went another way show besides is added and tried too.  SIGINT, SIGTERM and
 * SIGHUP end it early, and so does the time.  The result, zero before the first call, sums up; it is released
 * also after a failure, and not before the set. */
int replay_settle(const struct replay_settle *how, struct finding_set *set, struct replay_settled *result);
void replay_settled_release(struct replay_settled *result);

#endif
