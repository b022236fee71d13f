/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside replay/: which finding is tried next, and in which way.  Knows no process and no clock, so that
 * every case can be tested.
 */
#ifndef REPLAY_STRATEGY_H
#define REPLAY_STRATEGY_H

#include "finding/finding.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum strategy_step {
	STRATEGY_TRY,	  /* a replay */
	STRATEGY_KEEP,	  /* the same, and a read that races is kept behind or before the write */
	STRATEGY_MEET,	  /* a run in which any two threads may meet at the two accesses */
	STRATEGY_AGAIN,	  /* a replay that is recorded and predicted from */
	STRATEGY_OBSERVE, /* a free run under the detector, for many findings */
};

/* What is tried in one run. */
struct strategy_attempt {
	enum strategy_step step;
	size_t item, way; /* one finding of the set and one of its ways; */
	size_t *items;	  /* or, to observe, all that are asked about, */
	size_t count;	  /* so many */
	unsigned runs;	  /* that the finding had before */
	uint32_t keep[2]; /* STRATEGY_KEEP: sites, the first comes first */
	bool patient;	  /* STRATEGY_MEET: threads stand longer */
};
void strategy_attempt_release(struct strategy_attempt *a);

/* What the run showed besides the finding itself, as statistics of the result; names of strategy_stat(). */
#define STRATEGY_ASTRAY "astray"	 /* it went another way */
#define STRATEGY_UNORDERED "unordered"	 /* the detector saw the accesses unordered */
#define STRATEGY_READ "read"		 /* the site of a read that races and may have led astray; 0: none */
#define STRATEGY_WRITE "write"		 /* and of the write */
#define STRATEGY_OBSERVABLE "observable" /* the detector is to be asked */

struct candidate;

struct strategy {
	struct finding_set *set;
	struct finding **all; /* every prediction, also those that are merged in another finding */
	size_t all_count;
	uint64_t extra; /* findings that may be added */
	bool once;	/* one replay of each, and no more */
	bool trusts; /* the recorded run: no code is foreign, so what it shows firmly unordered is a race */

	struct candidate *candidates; /* as many as the set has items */
	size_t capacity;
	size_t *order; /* in which they are tried */
	size_t observations;
	size_t others,
		speculative; /* attempts but the first ones at sound findings; those at speculative ones */
	size_t failures;     /* first replays in a row that did not come where they should */
	bool late;	     /* nothing new is begun but one look of the detector */
	uint64_t replayed, added, confirmed, untried, unfinished; /* findings */
};

/* `set`, `all`, `extra`, `once` and `trusts` are set before. */
void strategy_open(struct strategy *s);
void strategy_close(struct strategy *s);

/* The next attempt, if there is one while others are `running`; it counts as under way then. */
bool strategy_next(struct strategy *s, size_t running, struct strategy_attempt *a);

/* A copy of the finding to try, with the schedule of this way. */
struct finding strategy_finding(const struct strategy *s, const struct strategy_attempt *a);

/* The run is over: `result` has the finding, or all of those that were asked about, with what the run means
 * for it, then what else it showed.  What is taken from it stays the result's. */
void strategy_take(struct strategy *s, const struct strategy_attempt *a, struct finding_set *result);

/* It is over and left no result, for that reason, which lives as long as the set. */
void strategy_lose(struct strategy *s, const struct strategy_attempt *a, const char *reason);

/* The time is up: attempts that are under way were given up. */
void strategy_be_late(struct strategy *s);

/* How many wait for a verdict, and how many of which everything was tried. */
size_t strategy_waiting(const struct strategy *s);
size_t strategy_exhausted(const struct strategy *s);

/* Verdicts for all that was tried to the end; for the rest `why` it was not, unless the recorded run
 * suffices. */
void strategy_conclude(struct strategy *s, const char *why);

#endif
