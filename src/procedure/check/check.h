/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A check: the whole procedure from a program to findings with verdicts and classes.  Within the
 * given time, a check records ordinary runs of the program, predicts the races and deadlocks of
 * other schedules, and tries each of them in replays.  Then it explores further schedules and
 * classifies the races.
 *
 *	struct check c;
 *	err = check_open(&c, &opts);     starts the clock of the check and instruments the program
 *	err = check_directory(&c, ...);  claims a directory for everything worth keeping
 *	err = check_run(&c);             c.set has the findings
 *	check_close(&c);
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "check/state.h"

/* What happened, for the output. */
enum check_event_kind {
	CHECK_PREDICTING,	 /* prediction begins, */
	CHECK_PREDICTED,	 /* and is over */
	CHECK_REPLAYING,	 /* replays begin, */
	CHECK_REPLAY_PROGRESS,	 /* are under way: `replays`, */
	CHECK_REPLAYED,		 /* and are over */
	CHECK_CLASSIFYING,	 /* classification begins, */
	CHECK_CLASSIFY_PROGRESS, /* is under way: `classes`, */
	CHECK_CLASSIFIED,	 /* and is over */
	CHECK_CONFIRMED, /* `finding` of `set` is new and confirmed; a callback that prints it sets its
			  * `printed`
			  */
};

struct check_event {
	enum check_event_kind kind;
	const struct replay_progress *replays;
	const struct classify_progress *classes;
	const struct finding_set *set;
	struct finding *finding;
};

struct check_opts {			    /* zero values are the defaults */
	char **argv;			    /* the program's, NULL at the end */
	struct run_build build;		    /* how it is built; check_open() sets the deadline */
	uint64_t time_ms;		    /* time limit of the check; 0: no limit */
	uint64_t timeout_ms;		    /* time limit of a run; 0: chosen by the budget */
	uint64_t runs;			    /* number of runs to record first: 1 or more */
	uint64_t jobs;			    /* runs at a time; 0: chosen */
	const char *with, *setup;	    /* commands beside and before each run (run/companion.h) */
	int output;			    /* descriptor: standard output of the first run */
	const char *require, *without_sync; /* edits of the program (base/edit.h) */
	bool no_world, all_accesses, no_replay, no_explore, no_classify;
	bool kernel_threads;  /* as in struct replay_conditions */
	bool quiet;	      /* no findings and no progress are reported */
	const char *strategy; /* of exploration, as in struct explore */
	uint64_t seed;
	unsigned models; /* a bit for each memory model under which to classify */
	bool coherent;	 /* as in struct classify */
	struct finding_filter filter;
	struct predict_batch prediction; /* the effort that the user wants */

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
 * A directory with files but without a sign of a check is refused. */
int check_directory(struct check *c, const char *path, bool elsewhere);

/* Does the actions that the budget chooses, one after another.  Even after a failure, c->set has
 * what was found. */
int check_run(struct check *c);

/* Call this if nothing was confirmed.  Fails, with a message, if there may be something all the
 * same. */
int check_conclude(const struct check *c);

/* Adds what was counted to the statistics of the set. */
void check_stats(struct check *c);

#endif
