/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The budget of a check: decides which action of the check is next, and how long it may take.  The
 * decision depends on what is known so far and on the remaining time and runs.  It depends only on
 * the arguments; nothing here uses a process, a file or a clock.
 *
 *	while ((a = check_next(&known)).what != CHECK_END) {
 *		outcome = ...;                    do the action
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
	CHECK_RECORD,  /* records one of the first runs */
	CHECK_PREDICT, /* continues the prediction from a trace until it returns (predict/pass.h) */
	/* reports accesses that are unordered in a large run, before the search begins */
	CHECK_SHOW_WALK,
	CHECK_LOOK,	   /* records another run, and reports accesses that are unordered in it */
	CHECK_TRY_EARLY,   /* tries sound findings while prediction is not over */
	CHECK_SETTLE,	   /* replays the predictions */
	CHECK_EXPLORE,	   /* runs schedules that Raddle chooses */
	CHECK_FURTHER,	   /* records a run under such a schedule, predicts from it, and replays */
	CHECK_END_FURTHER, /* merges the results of further schedules */
	CHECK_CLASSIFY,	   /* determines the effects of races */
	CHECK_END,	   /* ends the check, because nothing is left to do */
};

/* The state from which the budget derives the next action.  Before check_next(), the caller fills
 * in all members except the last group.  That group is zero at first, and check_done() updates
 * it. */
struct check_known {
	/* The first group of members is what the user has asked for. */
	/* when the check began and has to end (base/clock.h); `end_ns` is 0 if there is no limit */
	int64_t start_ns, end_ns;
	int64_t record_ns;   /* when the first run began */
	uint64_t runs;	     /* number of runs to record first, at least 1 */
	uint64_t timeout_ms; /* time limit of a run, or 0 if the budget chooses it */
	bool no_replay, no_explore, no_classify;
	bool has_company; /* a command runs together with the program, or before it */
	bool is_edited;	  /* the program runs with edits (base/edit.h) */

	/* This group is the present state. */
	int64_t now_ns;
	bool run_interrupted; /* the user interrupted a recording */
	bool interrupted;     /* the user interrupted replays or an exploration */

	/* This group describes the first run, once it is recorded. */
	uint64_t events;
	bool is_endless;    /* the program was still working when its time was up */
	bool is_cut;	    /* recording stopped before the run ended */
	bool is_deadlocked; /* the program was deadlocked, and was killed */
	bool has_exited;    /* the program ended with an exit status */
	bool has_forked;

	/* This group describes all recorded runs. */
	uint64_t recorded_ms; /* how long the longest run took */
	int64_t ended_ns;     /* when the latest run ended */

	/* This group describes prediction so far. */
	uint64_t predicted_events; /* number of events of all traces that were opened */
	/* number of parts into which the largest trace was cut, or 0 if no trace was cut */
	uint64_t parts;
	/* number of threads of the program, and of forked processes that were analysed */
	uint64_t threads, forked;

	/* This group is known only after prediction. */
	bool has_further; /* there is a further schedule that is worth recording */
	uint64_t races;	  /* number of confirmed races */
	int64_t build_ns; /* how long it took to make the first flavour */

	/* The last group records what was done; check_done() writes it. */
	/* number of recorded runs, and of traces whose prediction is over */
	uint64_t recorded, predicted;
	bool is_predicting; /* the deadlines of prediction are set */
	/* prediction returned PREDICT_WALKED or PREDICT_FOUND (predict/pass.h), and this has not
	 * been handled yet */
	bool has_walked, has_found;
	bool looks_begun, looks_over;
	/* number of looks so far, and how many of the latest consecutive looks found nothing new */
	uint64_t looks, vain_looks;
	/* when looks have to end; 0 before they begin, or if there is no limit */
	int64_t looks_end_ns;
	int64_t look_ns; /* how long a run and the look at its trace take */
	bool early_begun;
	int64_t early_left_ns; /* time left for replays while prediction is not over */
	bool settled;
	bool further_begun, explored, further_failed, further_over;
	int64_t further_end_ns;
	bool classified;
};

struct check_action {
	enum check_what what;
	int64_t begin_ns; /* when the action was chosen */
	int64_t end_ns;	  /* when the action has to end, or 0 for no limit */
	/* for CHECK_PREDICT: the latest time to which `end_ns` may be moved if the trace takes long
	 * to read */
	int64_t latest_ns;
	/* when all actions of this kind must have ended, or 0 for no limit.  For CHECK_TRY_EARLY,
	 * this is the number of nanoseconds that are left for such actions. */
	int64_t phase_ns;
	uint64_t limit_ms; /* CHECK_RECORD, CHECK_LOOK: real-time limit of the program; 0: none */
	uint64_t work_ms;  /* CHECK_LOOK: limit of the program in program time, or 0 for none */
	bool is_first;	   /* true if the action is the first of its phase, or sets new deadlines */
	bool all;	   /* CHECK_LOOK: no access is left out */
	bool replays;	   /* CHECK_TRY_EARLY: there is time for replays */
};

/* The result of an action; members that do not belong to the action are ignored. */
struct check_outcome {
	/* the action failed.  Only CHECK_LOOK, CHECK_EXPLORE and CHECK_FURTHER may fail, because a
	 * check can succeed without them */
	bool failed;
	bool fresh;    /* CHECK_LOOK: the run showed something new */
	bool replayed; /* CHECK_TRY_EARLY: something was replayed */
	bool walked;   /* CHECK_PREDICT: the result is PREDICT_WALKED (predict/pass.h) */
	bool found;    /* CHECK_PREDICT: the result is PREDICT_FOUND */
	bool over;     /* CHECK_PREDICT: the result is PREDICT_OVER */
};

/* Returns the next action.  Its deadline is never after known->end_ns. */
struct check_action check_next(const struct check_known *known);

/* Notes that an action was done.  `known->now_ns` must be the time at which it ended. */
void check_done(struct check_known *known, const struct check_action *a, const struct check_outcome *o);

/* Returns the conditions under which a recording ends early: analysing its trace would take longer
 * than the remaining time, or nothing has been recorded for a long time. */
struct record_enough check_enough(const struct check_known *known);

/* How many milliseconds the accompanying command may run after the program ended.  If there is no
 * such command, this is the limit for forked processes.  Chosen by hand. */
#define CHECK_OUTLIVE_MS 3000

/* Returns the number of races that were not classified because the time was up.  Called at the end
 * of the check. */
uint64_t check_unclassified(const struct check_known *known);

/* Returns true if building the flavour took so much of the check's time that the user should be
 * told. */
bool check_is_slow_build(const struct check_known *known);

const char *check_what_name(enum check_what what); /* for messages and tests */

#endif
