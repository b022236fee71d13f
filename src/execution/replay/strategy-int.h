/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside replay/: decides which finding is tried next, and how.  This code uses no processes and
 * no clock, so tests can cover every case.
 */
#ifndef REPLAY_STRATEGY_INT_H
#define REPLAY_STRATEGY_INT_H

#include "finding/finding.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum strategy_step {
	STRATEGY_TRY, /* a replay */
	/* a replay that fixes the order between a racy read and the write with which it races */
	STRATEGY_KEEP,
	/* a run in which any two threads may meet at the two accesses, without being led there */
	STRATEGY_MEET,
	STRATEGY_AGAIN,	  /* a recorded replay, from whose trace a new prediction is made */
	STRATEGY_OBSERVE, /* a free run under the detector, for many findings */
};

/* Describes one run: which finding it tries, and how. */
struct strategy_attempt {
	enum strategy_step step;
	size_t item, way; /* indices of a finding in the set, and of one of its ways (schedules) */
	size_t *items;	  /* STRATEGY_OBSERVE: indices of the findings in the set */
	size_t count;	  /* number of `items` */
	unsigned runs;	  /* number of previous runs of the finding */
	uint32_t keep[2]; /* STRATEGY_KEEP: the two sites, in the order that is forced */
	bool patient;	  /* STRATEGY_MEET: threads are stopped longer */
};
void strategy_attempt_release(struct strategy_attempt *a);

/* Names of statistics of the result, by which a run reports what else it showed. */
#define STRATEGY_DIVERGED "astray"     /* the run diverged */
#define STRATEGY_UNORDERED "unordered" /* the detector saw the accesses unordered */
#define STRATEGY_READ "read"	       /* the site of a racy read that may have caused the divergence, or 0 */
#define STRATEGY_WRITE "write"	       /* the site of the write that races with that read */
#define STRATEGY_OBSERVABLE "observable" /* the detector should decide */

struct strategy_candidate;

struct strategy {
	struct finding_set *set;
	struct finding **all; /* every prediction, including those merged into another finding */
	size_t all_count;
	uint64_t extra; /* maximum number of findings that may be added */
	bool once;	/* each finding is replayed once */
	/* the program has no foreign code, so accesses that are certainly unordered in the recorded
	 * run are a race */
	bool trusts;

	struct strategy_candidate *candidates; /* one for each item of the set */
	size_t capacity;
	size_t *order; /* indices of candidates, in the order in which they are tried */
	size_t observations;
	/* number of repeated attempts at sound findings, and of attempts at speculative ones */
	size_t others, speculative;
	size_t failures; /* number of consecutive first replays that did not reach their goal */
	bool late;	 /* the time is up: only one run under the detector may still start */
	uint64_t replayed, added, confirmed, untried, unfinished; /* numbers of findings */
};

/* The caller sets `set`, `all`, `extra`, `once` and `trusts` before it calls strategy_open(). */
void strategy_open(struct strategy *s);
void strategy_close(struct strategy *s);

/* Stores the next attempt in *a, which then counts as in progress.  `running` is the number of
 * other attempts in progress.  Returns false if no attempt can start until one of them has
 * ended. */
bool strategy_next(struct strategy *s, size_t running, struct strategy_attempt *a);

/* Returns a copy of the finding to try, with the schedule that the attempt uses. */
struct finding strategy_finding(const struct strategy *s, const struct strategy_attempt *a);

/* Takes the result of a run.  The first finding of the result is the tried finding with its
 * verdict.  After STRATEGY_OBSERVE, all tried findings come first.  New findings that the run
 * showed follow.  The result keeps ownership of the findings. */
void strategy_take(struct strategy *s, const struct strategy_attempt *a, struct finding_set *result);

/* Called if the attempt ended without a result.  The text of `reason` must live as long as the
 * set. */
void strategy_lose(struct strategy *s, const struct strategy_attempt *a, const char *reason);

/* Called when the time is up and the attempts in progress were cancelled. */
void strategy_be_late(struct strategy *s);

/* Return the number of findings that wait for a verdict, and the number of those that are
 * exhausted, that is, for which nothing is left to try. */
size_t strategy_waiting(const struct strategy *s);
size_t strategy_exhausted(const struct strategy *s);

/* Stores verdicts for all exhausted findings (nothing is left to try).  The other findings get the
 * reason `why`, which states why they were not tried to the end.  A finding that the recorded run
 * itself proves does not get this reason. */
void strategy_conclude(struct strategy *s, const char *why);

#endif
