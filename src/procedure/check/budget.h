/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The budget of a check.  In: what is known so far, and the remaining time and runs.  Out: the next
 * action and its deadline.  Everything here is a function of its arguments: no process, no file, no
 * clock.
 *
 *	while ((a = check_next(&known)).what != CHECK_END) {
 *		outcome = ...;                    do it
 *		known.now_ns = rd_now_ns();
 *		check_done(&known, &a, &outcome);
 *	}
 */
#ifndef CHECK_BUDGET_H
#define CHECK_BUDGET_H

#include "record/enough.h"

#include <stdbool.h>
#include <stdint.h>

enum check_what {
	CHECK_RECORD,	   /* one of the first runs */
	CHECK_PREDICT,	   /* continues the prediction from a trace until its next event */
	CHECK_SHOW_WALK,   /* reports what a large run shows unordered, before the search begins */
	CHECK_LOOK,	   /* records another run, and reports what it shows unordered */
	CHECK_TRY_EARLY,   /* tries sound findings while prediction is not over */
	CHECK_SETTLE,	   /* replays the predictions */
	CHECK_EXPLORE,	   /* runs schedules that Raddle chooses */
	CHECK_FURTHER,	   /* records one of those, predicts from it, and replays */
	CHECK_END_FURTHER, /* merges the results of further schedules */
	CHECK_CLASSIFY,	   /* determines what races do */
	CHECK_END,	   /* nothing is left to do */
};

/* What is known.  The caller fills in all but the last part before check_next().  The last part is
 * written by check_done() and is zero at first. */
struct check_known {
	/* What the user wants. */
	int64_t start_ns, end_ns; /* when the check began and has to end (base/clock.h); end 0: never */
	int64_t record_ns;	  /* when its first run began */
	uint64_t runs;		  /* number of runs to record first: 1 or more */
	uint64_t timeout_ms;	  /* time limit of a run; 0: chosen here */
	bool no_replay, no_explore, no_classify;
	bool has_company; /* a command runs beside the program or before it */
	bool is_edited;	  /* it runs with edits (base/edit.h) */

	/* The present. */
	int64_t now_ns;
	bool run_interrupted; /* the user interrupted a recording */
	bool interrupted;     /* the user interrupted replays or an exploration */

	/* The first run, once it is recorded. */
	uint64_t events;
	bool is_endless;    /* it was still working when its time was up */
	bool is_cut;	    /* recording stopped before it ended */
	bool is_deadlocked; /* it was deadlocked, and was killed */
	bool has_exited;    /* with an exit status */
	bool has_forked;

	/* All recorded runs. */
	uint64_t recorded_ms; /* how long the longest one took */
	int64_t ended_ns;     /* when the latest one ended */

	/* Prediction so far. */
	uint64_t predicted_events; /* events of all traces that were opened */
	uint64_t parts;		   /* into which the largest trace was cut; 0: no trace was cut */
	uint64_t threads, forked;  /* threads of the program; forked processes that were analysed */

	/* Later. */
	bool has_further; /* there is a further schedule that is worth recording */
	uint64_t races;	  /* confirmed ones */
	int64_t build_ns; /* how long it took to make the first flavour */

	/* What was done: written by check_done(). */
	uint64_t recorded, predicted; /* numbers of recorded runs, and of traces that are done */
	bool is_predicting;	      /* the deadlines of prediction are set */
	bool has_walked, has_found;   /* events of prediction that were not handled yet */
	bool looks_begun, looks_over;
	/* Number of looks so far; of these, how many in a row, up to the last one, found nothing new. */
	uint64_t looks, vain_looks;
	int64_t looks_end_ns; /* 0: not begun, or no end */
	int64_t look_ns;      /* how long a run and the look at it take */
	bool early_begun;
	int64_t early_left_ns; /* time left for replays while prediction is not over */
	bool settled;
	bool further_begun, explored, further_failed, further_over;
	int64_t further_end_ns;
	bool classified;
};

struct check_action {
	enum check_what what;
	int64_t begin_ns;  /* when it was chosen */
	int64_t end_ns;	   /* when it has to end; 0: no limit */
	int64_t latest_ns; /* CHECK_PREDICT: how far end_ns may be put off to read a trace */
	int64_t phase_ns;  /* when all actions of this kind have to end; 0: no limit.  CHECK_TRY_EARLY: how
			    * much time is left for them */
	uint64_t limit_ms; /* CHECK_RECORD, CHECK_LOOK: time limit of the program; 0: no limit */
	bool is_first;	   /* the first of its phase, or new deadlines are set */
	bool all;	   /* CHECK_LOOK: no access is left out */
	bool replays;	   /* CHECK_TRY_EARLY: there is time for replays */
};

/* The result of an action; members that do not belong to the action are ignored. */
struct check_outcome {
	bool failed;   /* the action failed: only for CHECK_LOOK, CHECK_EXPLORE and CHECK_FURTHER,
			* which a check can do without */
	bool fresh;    /* CHECK_LOOK: it showed something new */
	bool replayed; /* CHECK_TRY_EARLY: something was replayed */
	bool walked;   /* CHECK_PREDICT: PREDICT_WALKED of predict/pass.h, */
	bool found;    /* or PREDICT_FOUND, */
	bool over;     /* or PREDICT_OVER */
};

/* The next action.  Its deadline is never after known->end_ns. */
struct check_action check_next(const struct check_known *known);

/* Notes that an action was done; known->now_ns is when it ended. */
void check_done(struct check_known *known, const struct check_action *a, const struct check_outcome *o);

/* When to end a run that is being recorded: if analysing its trace would take longer than the
 * remaining time, or if it has recorded nothing for long. */
struct record_enough check_enough(const struct check_known *known);

/* Milliseconds that forked processes may outlive the program if no command runs beside it, and that
 * such a command may outlive it.  A judgement. */
#define CHECK_OUTLIVE_MS 3000

/* When the check is over: the number of races for which there was no time to classify them. */
uint64_t check_unclassified(const struct check_known *known);

/* Whether making the flavour took so much of the time that the user should know. */
bool check_is_slow_build(const struct check_known *known);

const char *check_what_name(enum check_what what); /* for messages and tests */

#endif
