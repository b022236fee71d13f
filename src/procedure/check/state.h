/* SPDX-License-Identifier: Apache-2.0 */
/* What a check knows: its runs, findings and counts.  Read check.h first; this header is for the
 * files of check/ and for reports. */
#ifndef CHECK_STATE_H
#define CHECK_STATE_H

#include "base/claim.h"
#include "check/budget.h"
#include "check/edits.h"
#include "check/ending.h"
#include "classify/classify.h"
#include "explore/further.h"
#include "finding/filter.h"
#include "predict/pass.h"
#include "replay/settle.h"
#include "run/companion.h"
#include "run/input.h"

struct check_opts;
struct check_event;

/* A recorded run. */
struct check_run {
	struct check_ending ending;
	struct finding_set *deadlock; /* that it was ended for; NULL: it was not */
	bool all;		      /* no access is left out */
};

/* What was recorded. */
struct check_recorded {
	struct check_run *runs; /* those of the options, */
	uint64_t run_count;	/* of which so many are made: less after an interrupt */
	int signal;		/* that the first one ended by; 0: none */
	uint64_t looks;		/* runs that were only looked at */
	uint64_t forked;	/* processes whose traces were looked at */
};

/* What was predicted. */
struct check_predicted {
	struct predict_batch batch;
	struct predict_pass *pass; /* over the trace that is predicted from; NULL: none */
	struct finding **all;	   /* every prediction, before those at the same places became one */
	size_t all_count;
	struct finding_set *seen; /* what large runs showed before anything was searched for; NULL: none */
	size_t early;		  /* findings that were looked at while others were sought */
};

/* Seconds that went by. */
struct check_seconds {
	double build, record, predict, replay, classify;
};

struct check {
	const struct check_opts *opts;
	struct check_known known;
	struct rd_claim claim;
	struct run_program program;
	struct check_edits edits;
	struct run_input input;
	struct run_companion companion;

	struct check_recorded recorded;
	struct check_predicted predicted;

	/* What follows. */
	struct replay_settled settled;
	struct explore_result explored;
	struct further further;	     /* runs that are recorded after the first ones */
	struct finding_set *sighted; /* races that exploring showed; NULL */
	struct classify_result classes;

	struct finding_set *set;   /* the findings */
	struct finding_set **kept; /* sets that own some of them */
	size_t kept_count, kept_capacity;
	struct check_seconds seconds;
};

/* Brings what the budget asks for up to date. */
void check_refresh(struct check *c);

/* A path in the directory, to be freed; that of the n-th trace, from 0. */
char *check_path(const struct check *c, const char *name);
char *check_trace_path(const struct check *c, uint64_t n);

/* Keeps a set until the check is closed. */
void check_keep(struct check *c, struct finding_set *set);

/* What a command that reproduces findings of the set has to name. */
void check_mark_means(const struct check *c, struct finding_set *set);

/* A set of some of the findings of the check, of the same program, to be filled. */
void check_make_part(const struct check *c, struct finding_set *some);

/* The confirmed ones take the places of those they were predictions of, or that chance showed. */
void check_put_confirmed(struct finding_set *set, const struct finding_set *some);

/* Marks what the user knows or hides. */
int check_filter(const struct check *c, struct finding_set *set);

/* Nanoseconds until then, at least a second, since 0 would be no limit; 0: there is none. */
int64_t check_left_ns(int64_t end_ns);

/* How many runs at a time. */
unsigned check_jobs(const struct check *c);

/* Of every replay and classification; explorations differ (further.c). */
struct replay_conditions check_conditions(const struct check *c, const struct replay_program *program);

#endif
