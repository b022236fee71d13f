/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: decides which run of the program is made next to classify a race.  In: the
 * runs so far and the caller's limits.  Out: whether another run is needed, which runs to repeat,
 * and when a repetition is accepted.  The code below runs no program, so tests can check every
 * case with made-up runs.
 *
 * Runs come in pairs.  The two runs of a pair differ only in which of the two accesses comes first.
 */
#ifndef CLASSIFY_NEXT_INT_H
#define CLASSIFY_NEXT_INT_H

#include "classify/decide-int.h"

/* Which runs the caller allows. */
struct next_limits {
	bool schedules; /* other schedules after the race may be run */
	bool control;	/* the control group may be run */
	bool models;	/* memory models are requested, so every control run is needed */
	size_t pairs;	/* maximum number of pairs; 0 means CLASSIFY_ALTERNATES */
};

/* Returns the maximum number of pairs. */
size_t next_pairs(const struct next_limits *l);

/* Returns the maximum number of pairs to run while it is unclear whether the race causes a
 * fault. */
size_t next_room(const struct next_limits *l);

/* Returns true if another pair of runs is worth making.  Unless next_is_hopeless() is true, stores
 * in *d the decision that follows from the runs so far. */
bool next_is_pair(const struct next_limits *l, const struct decide_runs *runs, struct decision *d);

/* Returns true if it is worth making another pair of runs, in which a thread stops at an access
 * after the race (unordered-int.h).  `made` is the number of such pairs so far.  Sets *d as
 * next_is_pair() does. */
bool next_is_switched(const struct next_limits *l, const struct decide_runs *runs, size_t made,
		      struct decision *d);

/* Returns true if experiments that move one access (VARIANT_BETWEEN) are worth making.  This is
 * the case if the runs so far show no effect of the order of the two accesses. */
bool next_is_between(const struct next_limits *l, const struct decision *d);

/* Returns how many runs the control group should have by now.  `have` is the number of runs it
 * has. */
size_t next_controls(const struct next_limits *l, const struct decide_runs *runs, size_t have);

/* Returns true if the first runs did not reach the race, so that further runs will not reach it
 * either. */
bool next_is_hopeless(const struct decide_runs *runs);

/* Returns true if the first two control runs had the same schedule.  If their outputs still
 * differ, the schedule is not the cause, and later comparisons of outputs ignore the
 * difference. */
bool next_is_maskable(const struct decide_runs *runs);

/* ---- whether runs reached the race, and how ---- */

/* Returns a run that was led to both accesses and met an obstacle, or NULL. */
const struct trial *next_apart(const struct decide_runs *runs);

/* Returns true if two threads were stopped at their accesses at the same time, which proves the
 * race. */
bool next_is_met(const struct decide_runs *runs);

/* Returns a sentence that states why these runs do not determine a class. */
const char *next_why_none(const struct decide_runs *runs, const struct decision *d);

/* Returns true if, according to the finding, both threads were stopped at their accesses at the
 * same time.  In that case both orders are possible, even if something keeps the threads apart in
 * other runs that lead to the race. */
bool next_has_met(const struct finding *f);

/* Returns the search for ad-hoc synchronisation that is likely to be worth its runs: adhoc_flag()
 * (NEXT_FLAG), adhoc_apart() (NEXT_APART), or none. */
enum next_order { NEXT_NO_ORDER, NEXT_FLAG, NEXT_APART };
enum next_order next_order(const struct decision *d, const struct decide_runs *runs, bool has_met);

/* Returns true if perhaps only one order of the two accesses can happen.  In that case the race
 * was confirmed, or a detector saw it.  However, the two threads were never stopped at their
 * accesses at the same time. */
bool next_may_pass(const struct decision *d, const struct finding *f);

/* ---- evidence ---- */

/* Returns true if the class means that the race is harmful. */
bool next_is_bad(const struct decision *d);

/* Returns what went wrong in the run that shows the class (d->shows): its fault, "exit-status" or
 * "output". */
const char *next_consequence(const struct decide_runs *runs, const struct decision *d);

/* Returns true if the run `again` reproduced the run `seen`. */
bool next_is_same(const struct decision *d, const struct trial *seen, const struct trial *again);

/* Returns true if a time limit may have influenced the run.  If a repetition of such a run has a
 * different result, this proves little. */
bool next_is_unsure(const struct trial *t);

/* number of repetitions before a harmful class is reported; README and reports state it */
#define NEXT_REPLAYS 2

/* The repetitions of a schedule so far; all zero at first. */
struct next_repeat {
	unsigned done, unsure;
	bool failed;
};

/* next_repeats() returns true if another run is needed.  When no more runs are needed, `failed`
 * contains the result. next_repeated() adds the result of a run. */
bool next_repeats(const struct next_repeat *r);
void next_repeated(struct next_repeat *r, bool same, bool unsure);

/* Returns true if there should be another attempt to record the schedule of a run.  `tries` is the
 * number of attempts so far.  `same` is true if the last attempt reproduced the run, and `unsure`
 * if time influenced it. */
bool next_writes_down(unsigned tries, bool same, bool unsure);

/* The attempts to show a harmful class so far; all zero at first. */
struct next_show {
	unsigned tries;
	bool fault; /* a fault was seen that could not be reproduced */
};

/* Returns true if the class is harmful and another attempt to show it is worth its runs. */
bool next_shows(const struct next_show *s, const struct decision *d);

/* Call this when a run could not be reproduced.  The run is ignored from then on, and *d is
 * computed again from the other runs. */
void next_lost(struct next_show *s, struct decide_runs *runs, struct decide_place lost, struct decision *d);

/* Call this when all attempts have failed.  Returns true if the remaining runs still justify a
 * class. */
bool next_is_left(const struct next_show *s, const struct decision *d);

#endif
