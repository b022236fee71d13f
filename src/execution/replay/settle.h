/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settles findings: replays each finding in several ways until a run confirms it, nothing is left
 * to try, or the time is up. doc/design/replay.md defines the order.
 */
#ifndef REPLAY_SETTLE_H
#define REPLAY_SETTLE_H

#include "replay/conditions.h"
#include "replay/replay.h"
#include "run/input.h"

/* The progress of settling. */
struct replay_progress {
	uint64_t total, done; /* number of findings, and how many of them are confirmed or exhausted */
	uint64_t confirmed;
	double seconds_left; /* 0 if there is no limit */
};

/* The reason of a finding begins with this if its replay was impossible. */
#define REPLAY_IMPOSSIBLE "it could not be replayed: "

struct replay_settle {		       /* zero values are the defaults */
	struct replay_conditions runs; /* a `limit_ns` of 0 is as in struct replay_request */
	/* directory for output of replays; it is created, and removed at the end */
	const char *directory;
	unsigned jobs;	      /* number of concurrent replays; 0 means one */
	int64_t time_ns;      /* time limit for all replays together, or 0 for none */
	int recorded_signal;  /* as in struct replay_request */
	struct finding **all; /* every prediction, including those merged into another finding */
	size_t all_count;
	bool once;	/* each finding is replayed once, and changes only if it is confirmed */
	uint64_t extra; /* maximum number of findings from diverged runs that are added */

	/* Predicts from the trace of a diverged run, adds findings to the set, and finishes the
	 * set.  Called in a separate process.  May be NULL. */
	int (*predict)(void *context, const char *trace, struct finding_set *set);
	void *predict_context;
};

struct replay_settled {
	uint64_t replayed, added;    /* numbers of replayed findings and of added findings */
	uint64_t replays, confirmed; /* number of runs, and of findings that they confirmed */
	/* number of findings for which there was no time, and of those not fully tried */
	uint64_t untried, unfinished;
	bool interrupted;
	struct finding_set **sets; /* the sets that own the findings with verdicts */
	size_t set_count, set_capacity;
};

/* Why replay_settle_next() returned. */
enum replay_news_kind {
	REPLAY_NEWS_OVER,      /* each finding has a verdict, or the time is up */
	REPLAY_NEWS_PROGRESS,  /* `progress` is new; about ten times a second */
	REPLAY_NEWS_CONFIRMED, /* `finding`, of the set, has just been confirmed */
};

struct replay_news {
	enum replay_news_kind kind;
	struct replay_progress progress;
	struct finding *finding;
};

/* Settles the findings of a set: tries each finding that has no verdict, several at once, and
 * replaces it by the finding with its verdict.  Also adds and tries the findings that diverged
 * runs show.  SIGINT, SIGTERM, SIGHUP and the time limit end the settling early.
 *
 * replay_settle_next() continues until there is news.  After REPLAY_NEWS_OVER, which is also
 * returned on failure, only replay_settle_close() may follow.  The result must be zeroed before
 * the first settling; later settlings add to it.  Release the result after the set, even after a
 * failure. */
struct replay_settling;
struct replay_settling *replay_settle_open(const struct replay_settle *how, struct finding_set *set,
					   struct replay_settled *result);
int replay_settle_next(struct replay_settling *s, struct replay_news *news);
void replay_settle_close(struct replay_settling *s);

void replay_settled_release(struct replay_settled *result);

#endif
