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
	CHECK_SHOW_WALK,   /* shows what a large run shows unordered, before anything is searched for */
	CHECK_LOOK,	   /* records one run more, and looks at what it shows unordered */
	CHECK_TRY_EARLY,   /* tries what is certain to happen while prediction is not over */
	CHECK_SETTLE,	   /* replays the predictions */
	CHECK_EXPLORE,	   /* runs schedules of our own making */
	CHECK_FURTHER,	   /* records one of those, predicts from it, and replays */
	CHECK_END_FURTHER, /* puts what they brought together */
	CHECK_CLASSIFY,	   /* finds out what races do */
	CHECK_END,	   /* nothing is left to do */
};

/* What is known.  The caller fills in the first parts before check_next().  The last part belongs
 * to check_done() and is zero at first. */
struct check_known {
	/* What the user wants. */
	int64_t start_ns, end_ns; /* when the check began and has to end (base/clock.h); end 0: never */
	int64_t record_ns;	  /* when its first run began */
	uint64_t runs;		  /* that are recorded first: 1 or more */
	uint64_t timeout_ms;	  /* of a run; 0: chosen here */
	bool no_replay, no_explore, no_classify;
	bool has_company; /* a command runs beside the program or before it */
	bool is_edited;	  /* the program is not as it was built */

	/* What there is now. */
	int64_t now_ns;
	bool run_interrupted; /* while a program was recorded */
	bool interrupted;     /* while replays or schedules were run */

	/* The first run, once it is recorded; and the longest. */
	uint64_t events;
	bool is_endless;    /* it was still working when its time was up */
	bool is_cut;	    /* recording stopped before it ended */
	bool is_deadlocked; /* for good, and was ended */
	bool has_exited;    /* with an exit status */
	bool has_forked;
	uint64_t recorded_ms; /* the longest */
	int64_t ended_ns;     /* when the latest one ended */

	/* Prediction so far. */
	uint64_t predicted_events; /* events of all traces that were opened */
	uint64_t parts;		   /* of a trace that was cut; 0: none was */
	uint64_t threads, forked;  /* of the program; its processes that were looked at */

	/* Later. */
	bool has_further; /* there is a further schedule that is worth recording */
	uint64_t races;	  /* confirmed ones */
	int64_t build_ns; /* that making a flavour took */

	/* What was done: written by check_done(). */
	uint64_t recorded, predicted; /* runs, and how many of their traces */
	bool is_predicting;	      /* the deadlines of prediction are set */
	bool has_walked, has_found;   /* prediction shows something that nothing was done about yet */
	bool looks_begun, looks_over;
	uint64_t looks, vain_looks; /* runs that were looked at, and how many of the last ones in vain */
	int64_t looks_end_ns;	    /* 0: not begun, or no end */
	int64_t look_ns;	    /* that a run and a look take */
	bool early_begun;
	int64_t early_left_ns; /* for replays while prediction is not over */
	bool settled;
	bool further_begun, explored, further_failed, further_over;
	int64_t further_end_ns;
	bool classified;
};

struct check_action {
	enum check_what what;
	int64_t begin_ns;  /* when it was chosen */
	int64_t end_ns;	   /* when it has to end; 0: no limit */
	int64_t latest_ns; /* CHECK_PREDICT: until when end_ns may be put off to read a trace */
	int64_t phase_ns;  /* when actions like it have to end; 0: no limit */
	uint64_t limit_ms; /* CHECK_RECORD, CHECK_LOOK: after which the program is ended; 0: no limit */
	bool is_first;	   /* of its phase: new deadlines count */
	bool all;	   /* CHECK_LOOK: no access is left out */
	bool replays;	   /* CHECK_TRY_EARLY: there is time for replays */
};

/* What came of an action; the members that do not belong to it are ignored. */
struct check_outcome {
	bool failed;   /* the action failed: only for CHECK_LOOK, CHECK_EXPLORE and CHECK_FURTHER,
			* which a check can do without */
	bool fresh;    /* CHECK_LOOK: it showed something new */
	bool replayed; /* CHECK_TRY_EARLY: something was replayed */
	bool walked;   /* CHECK_PREDICT: a large run was walked over, */
	bool found;    /* or findings were added, */
	bool over;     /* or the trace is done */
};

/* The next action.  Its deadline is never after known->end_ns. */
struct check_action check_next(const struct check_known *known);

/* Notes that an action was done; known->now_ns is when it ended. */
void check_done(struct check_known *known, const struct check_action *a, const struct check_outcome *o);

/* When to end a run that is being recorded: if analysing its trace would take longer than the
 * remaining time, or if it has recorded nothing for long. */
struct record_enough check_enough(const struct check_known *known);

/* How long processes that outlive the program get, in milliseconds, if no command runs beside it. */
#define CHECK_OUTLIVE_MS 3000

/* When the check is over: how many races there was no time to classify. */
uint64_t check_unclassified(const struct check_known *known);

/* Whether making the flavour took so much of the time that the user should know. */
bool check_is_slow_build(const struct check_known *known);

const char *check_what_name(enum check_what what); /* for messages and tests */

#endif
