/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A check: the whole procedure from a program to findings with verdicts and classes.  Within the
 * given time, a check records an ordinary run of the program, predicts the races and deadlocks of
 * other schedules, tries each of them in a replay, explores further schedules, and classifies the
 * races.
 *
 *	struct check c;
 *	err = check_open(&c, &opts);     has the program instrumented: the time of the check begins
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
	struct run_build build;		    /* how it is built; the time is set here */
	uint64_t time_ms;		    /* that the check may take; 0: any */
	uint64_t timeout_ms;		    /* that a run may take; 0: chosen */
	uint64_t runs;			    /* that are recorded first: 1 or more */
	uint64_t jobs;			    /* runs at a time; 0: chosen */
	const char *with, *setup;	    /* commands beside and before each run (run/companion.h) */
	int output;			    /* descriptor: standard output of the first run */
	const char *require, *without_sync; /* edits of the program (base/edit.h) */
	bool no_world, all_accesses, no_replay, no_explore, no_classify;
	bool quiet;	      /* no findings and no progress are reported */
	const char *strategy; /* of exploring, as in struct explore */
	uint64_t seed;
	unsigned models; /* bits of memory models that classes are wanted for */
	bool coherent;	 /* as in struct classify */
	struct finding_filter filter;
	struct predict_batch prediction; /* the effort that the user wants */

	/* Called when something happened; may be NULL. */
	void (*notify)(void *context, const struct check_event *event);
	void *context;
};

/* Instruments the program.  Call check_close() even after a failure; the options must stay valid
 * until then. */
int check_open(struct check *c, const struct check_opts *opts);
void check_close(struct check *c);

/* Claims the directory `path`.  If another process has claimed it and `elsewhere` is set, claims
 * one with a similar name.  Removes files of an earlier check that this one will not overwrite.  A
 * directory that was not made by a check is refused. */
int check_directory(struct check *c, const char *path, bool elsewhere);

/* Asks the budget and does one action after another.  After a failure, too, c->set has what was found. */
int check_run(struct check *c);

/* Nothing was confirmed: fails, with a message, if that does not mean that there is nothing. */
int check_conclude(const struct check *c);

/* Adds what was counted to the statistics of the set. */
void check_stats(struct check *c);

#endif
