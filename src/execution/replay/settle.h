/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settling findings: replays each finding in several ways, until it is confirmed, nothing is left
 * to try, or the time is up.  doc/design/replay.md defines the order.
 */
#ifndef REPLAY_SETTLE_H
#define REPLAY_SETTLE_H

#include "replay/conditions.h"
#include "replay/replay.h"
#include "run/input.h"

/* How far it is. */
struct replay_progress {
	uint64_t total, done; /* findings; those that are confirmed or exhausted */
	uint64_t confirmed;
	double seconds_left; /* 0 if there is no limit */
};

/* The reason of a finding begins with this if its replay was impossible. */
#define REPLAY_IMPOSSIBLE "it could not be replayed: "

struct replay_settle {		       /* zero values are the defaults */
	struct replay_conditions runs; /* a limit of 0 is as in struct replay_request */
	const char *directory;	       /* for output of replays: created, and removed at the end */
	unsigned jobs;		       /* concurrent replays; 0: one */
	int64_t time_ns;	       /* for all of them; 0: no limit */
	int recorded_signal;	       /* as in struct replay_request */
	struct finding **all;	       /* every prediction, including those merged into another finding */
	size_t all_count;
	bool once;	/* only one replay of each; findings that it does not confirm stay as they are */
	uint64_t extra; /* how many findings of diverged runs may be added */

	/* Predicts from the trace of a diverged run: adds findings to the set and finishes it.
	 * Called in its own process.  NULL: never. */
	int (*predict)(void *context, const char *trace, struct finding_set *set);
	void *predict_context;
};

struct replay_settled {
	uint64_t replayed, added;     /* findings */
	uint64_t replays, confirmed;  /* runs, and findings that they confirmed */
	uint64_t untried, unfinished; /* findings for which there was no time, and those not fully tried */
	bool interrupted;
	struct finding_set **sets; /* own the findings with verdicts */
	size_t set_count, set_capacity;
};

/* Why settling returned. */
enum replay_news_kind {
	REPLAY_NEWS_OVER,      /* each finding has a verdict, or the time is up */
	REPLAY_NEWS_PROGRESS,  /* about ten times a second: `progress` */
	REPLAY_NEWS_CONFIRMED, /* `finding` of the set was confirmed just now */
};

struct replay_news {
	enum replay_news_kind kind;
	struct replay_progress progress;
	struct finding *finding;
};

/* Tries each finding of the set that has no verdict, several at once, and replaces it by the
 * finding with the verdict.  Further findings of diverged runs are added and tried too.  SIGINT,
 * SIGTERM, SIGHUP and the time limit end it early.  replay_settle_next() continues until there is
 * news.  After REPLAY_NEWS_OVER, which is also returned on failure, only replay_settle_close() may
 * follow.  The result must be zero before the first settling; several settlings add up in it.
 * Release the result after the set, even after a failure. */
struct replay_settling;
struct replay_settling *replay_settle_open(const struct replay_settle *how, struct finding_set *set,
					   struct replay_settled *result);
int replay_settle_next(struct replay_settling *s, struct replay_news *news);
void replay_settle_close(struct replay_settling *s);

void replay_settled_release(struct replay_settled *result);

#endif
