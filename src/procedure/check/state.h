/* SPDX-License-Identifier: Apache-2.0 */
/* Declares what a check knows: its runs, findings and counts.  Read check.h first.  This header is
 * for the files of check/ and for reports. */
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
	struct finding_set *deadlock; /* the deadlocks because of which it was killed, or NULL */
	bool all;		      /* no access is left out */
	uint64_t work_ms;	      /* limit of the run in program time; 0 for none */
};

/* The recorded runs. */
struct check_recorded {
	struct check_run *runs; /* the runs; the array has as many entries as the options ask for */
	uint64_t run_count;	/* number of runs to be recorded, which an interrupt reduces */
	int signal;		/* the signal that ended the first run, or 0 */
	uint64_t looks;		/* number of runs that were only looked at */
	uint64_t forked;	/* number of forked processes whose traces were analysed */
};

/* The state of prediction. */
struct check_predicted {
	struct predict_batch batch;
	struct predict_pass *pass; /* the pass in progress, or NULL */
	/* every prediction, before predictions of the same places were merged */
	struct finding **all;
	size_t all_count;
	/* findings of large runs that needed no search; NULL if there are none yet */
	struct finding_set *seen;
	size_t early; /* number of findings of the set that early.c has handled */
};

/* Seconds that each phase took. */
struct check_seconds {
	double build, record, predict, replay, classify;
};

struct check {
	const struct check_opts *opts;
	struct check_known known;
	struct rd_claim claim;
	struct run_program program;
	struct check_edits edits;
	struct trial_shared *shared; /* what controlled runs have shown about the program */
	struct run_input input;
	struct run_companion companion;

	struct check_recorded recorded;
	struct check_predicted predicted;

	/* The next members are for the phases after prediction. */
	struct replay_settled settled;
	struct explore_result explored;
	struct further further;	     /* runs that are recorded after the first ones */
	struct finding_set *sighted; /* races that the detector saw in explored schedules; may be NULL */
	struct classify_result classes;

	struct finding_set *set;   /* the findings */
	struct finding_set **kept; /* sets that own some of these findings */
	size_t kept_count, kept_capacity;
	struct check_seconds seconds;
};

/* Updates `known`, on which the budget decides. */
void check_refresh(struct check *c);

/* check_path() returns a path in the directory of the check.  check_trace_path() returns the path
 * of trace number n, counted from 0.  The caller frees the result. */
char *check_path(const struct check *c, const char *name);
char *check_trace_path(const struct check *c, uint64_t n);

/* Keeps a set until the check is closed. */
void check_keep(struct check *c, struct finding_set *set);

/* Stores in the set the options that a command needs to reproduce the findings, such as the input
 * and the companion. */
void check_mark_means(const struct check *c, struct finding_set *set);

/* Prepares a set for some of the findings of the check, by giving it the same program and
 * arguments. */
void check_make_part(const struct check *c, struct finding_set *some);

/* Each confirmed finding of `some` replaces the finding of `set` with the same fingerprint, unless
 * the latter is already reproduced (finding_is_reproduced()). */
void check_put_confirmed(struct finding_set *set, const struct finding_set *some);

/* Marks findings that the baseline lists or the suppressions hide. */
int check_filter(const struct check *c, struct finding_set *set);

/* Returns the number of nanoseconds until end_ns, but at least one second, because a result of 0
 * means no limit.  Returns 0 if end_ns is 0, which also means no limit. */
int64_t check_left_ns(int64_t end_ns);

/* Returns the number of concurrent runs. */
unsigned check_jobs(const struct check *c);

/* Returns the conditions of every replay and classification.  Explorations change some of them
 * (further.c). */
struct replay_conditions check_conditions(const struct check *c, const struct replay_program *program);

#endif
