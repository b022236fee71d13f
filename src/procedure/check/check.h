/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A check is the whole procedure from a program to findings with verdicts and classes.  Within the
 * given time, a check records ordinary runs of the program, predicts races and deadlocks in other
 * schedules, and tries each prediction in replays.  Then it explores further schedules and
 * classifies the races.
 *
 * 	struct check c;
 * 	err = check_open(&c, &opts);     starts the clock of the check and instruments the program
 * 	err = check_directory(&c, ...);  claims a directory for everything worth keeping
 * 	err = check_run(&c);             c.set has the findings
 * 	check_close(&c);
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "check/state.h"

/* The kinds of events that a check reports. */
enum check_event_kind {
	CHECK_PREDICTING,	 /* prediction begins */
	CHECK_PREDICTED,	 /* prediction is over */
	CHECK_REPLAYING,	 /* replays begin */
	CHECK_REPLAY_PROGRESS,	 /* replays are in progress; see `replays` */
	CHECK_REPLAYED,		 /* replays are over */
	CHECK_CLASSIFYING,	 /* classification begins */
	CHECK_CLASSIFY_PROGRESS, /* classification is in progress; see `classes` */
	CHECK_CLASSIFIED,	 /* classification is over */
	/* `finding` of `set` is new and confirmed; a callback that prints it sets
	 * `finding->announced` */
	CHECK_CONFIRMED,
};

struct check_event {
	enum check_event_kind kind;
	const struct replay_progress *replays;
	const struct classify_progress *classes;
	const struct finding_set *set;
	struct finding *finding;
};

struct check_opts {		/* zero values are the defaults */
	char **argv;		/* the program's arguments, ended by NULL */
	struct run_build build; /* how the flavour is built; check_open() sets the deadline */
	uint64_t time_ms;	/* time limit of the check, or 0 for none */
	uint64_t timeout_ms;	/* time limit of a run, or 0 if the budget chooses it */
	uint64_t runs;		/* number of runs to record first, at least 1 */
	uint64_t jobs;		/* number of concurrent runs, or 0 to choose it */
	/* a command that runs at the same time as each run, and one that runs before each run
	 * (run/companion.h) */
	const char *with, *setup;
	int output; /* descriptor that receives the standard output of the first run */
	const char *require, *without_sync; /* edits of the program (base/edit.h) */
	bool no_world, all_accesses, no_replay, no_explore, no_classify;
	bool kernel_threads;  /* as in struct replay_conditions */
	bool no_snapshots;    /* as in struct replay_conditions */
	bool quiet;	      /* no findings and no progress are reported */
	const char *strategy; /* strategy of exploration, as in struct explore */
	uint64_t seed;
	unsigned models; /* a bit for each memory model under which to classify */
	bool coherent;	 /* as in struct classify */
	struct finding_filter filter;
	struct predict_batch prediction; /* options of prediction */

	/* Receives the events; may be NULL. */
	void (*notify)(void *context, const struct check_event *event);
	void *context;
};

/* Instruments the program.  Call check_close() even after a failure; the options must stay valid
 * until then. */
int check_open(struct check *c, const struct check_opts *opts);
void check_close(struct check *c);

/* Claims the directory `path`.  If another process has claimed it and `elsewhere` is set, claims
 * one with a similar name.  Removes schedules, saved input and further traces of an earlier check.
 * Refuses a directory that contains files, but was not written by a check. */
int check_directory(struct check *c, const char *path, bool elsewhere);

/* Does the actions that the budget chooses, one after another.  Even after a failure, c->set has
 * the findings so far. */
int check_run(struct check *c);

/* Called if nothing was confirmed.  Fails with a message if the result is not reliable. */
int check_conclude(const struct check *c);

/* Adds the counts of the check to the statistics of the set. */
void check_stats(struct check *c);

#endif
