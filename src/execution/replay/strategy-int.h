/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside replay/: decides which finding is tried next, and how.  It uses no processes and no clock,
 * so every case can be tested.
 */
#ifndef REPLAY_STRATEGY_INT_H
#define REPLAY_STRATEGY_INT_H

#include "finding/finding.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum strategy_step {
	STRATEGY_TRY,	  /* a replay */
	STRATEGY_KEEP,	  /* a replay that fixes the order of a racy read and its write */
	STRATEGY_MEET,	  /* a run in which any two threads may meet at the two accesses */
	STRATEGY_AGAIN,	  /* a replay that is recorded, so that its trace is predicted from */
	STRATEGY_OBSERVE, /* a free run under the detector, for many findings */
};

/* What is tried in one run. */
struct strategy_attempt {
	enum strategy_step step;
	size_t item, way; /* one finding of the set and one of its ways; */
	size_t *items;	  /* or, to observe, all findings in question, */
	size_t count;	  /* this many */
	unsigned runs;	  /* previous runs of the finding */
	uint32_t keep[2]; /* STRATEGY_KEEP: sites, the first comes first */
	bool patient;	  /* STRATEGY_MEET: threads are stopped longer */
};
void strategy_attempt_release(struct strategy_attempt *a);

/* What else the run showed, as statistics of the result; names for strategy_stat(). */
#define STRATEGY_DIVERGED "astray"	 /* it diverged */
#define STRATEGY_UNORDERED "unordered"	 /* the detector saw the accesses unordered */
#define STRATEGY_READ "read"		 /* the site of a racy read that may have caused that; or 0 */
#define STRATEGY_WRITE "write"		 /* and of the write */
#define STRATEGY_OBSERVABLE "observable" /* the detector should decide */

struct strategy_candidate;

struct strategy {
	struct finding_set *set;
	struct finding **all; /* every prediction, including those merged into another finding */
	size_t all_count;
	uint64_t extra; /* findings that may be added */
	bool once;	/* only one replay of each */
	bool trusts; /* no code is foreign, so accesses that are certainly unordered in the recorded run are a
			race */

	struct strategy_candidate *candidates; /* as many as the set has items */
	size_t capacity;
	size_t *order; /* in which they are tried */
	size_t observations;
	size_t others, speculative; /* repeated attempts at sound findings; attempts at speculative ones */
	size_t failures;	    /* consecutive first replays that did not reach their goal */
	bool late;		    /* nothing new is started but one run under the detector */
	uint64_t replayed, added, confirmed, untried, unfinished; /* findings */
};

/* `set`, `all`, `extra`, `once` and `trusts` are set before. */
void strategy_open(struct strategy *s);
void strategy_close(struct strategy *s);

/* The next attempt, if there is one while others are `running`; it then counts as in progress. */
bool strategy_next(struct strategy *s, size_t running, struct strategy_attempt *a);

/* A copy of the finding to try, with the schedule of this way. */
struct finding strategy_finding(const struct strategy *s, const struct strategy_attempt *a);

/* Takes the result of a run: the finding, or all findings in question, with their verdicts, then
 * whatever else the run showed.  The result keeps ownership. */
void strategy_take(struct strategy *s, const struct strategy_attempt *a, struct finding_set *result);

/* The attempt ended without a result, for that reason, which lives as long as the set. */
void strategy_lose(struct strategy *s, const struct strategy_attempt *a, const char *reason);

/* The time is up: attempts in progress were cancelled. */
void strategy_be_late(struct strategy *s);

/* How many findings wait for a verdict, and how many are exhausted. */
size_t strategy_waiting(const struct strategy *s);
size_t strategy_exhausted(const struct strategy *s);

/* Stores verdicts for all exhausted findings.  The others get `why` as the reason why they are not
 * exhausted, unless the recorded run is sufficient evidence. */
void strategy_conclude(struct strategy *s, const char *why);

#endif
