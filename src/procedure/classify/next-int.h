/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: decides which run of a race comes next.  In: the runs so far and the caller's
 * limits.  Out: whether another run is needed, which runs to repeat, and when a repetition is
 * accepted.  This part runs no program, so that every case can be tested with made-up runs.
 *
 * Runs come in pairs.  The two runs of a pair differ only in which of the two accesses comes first.
 */
#ifndef CLASSIFY_NEXT_INT_H
#define CLASSIFY_NEXT_INT_H

#include "classify/decide-int.h"

/* The runs that the caller allows. */
struct next_limits {
	bool schedules; /* other schedules after the race */
	bool control;	/* runs of the control group */
	bool models;	/* memory models are requested, so every control run is needed */
	size_t pairs;	/* maximum number of pairs; 0 means CLASSIFY_ALTERNATES */
};

/* The maximum number of pairs. */
size_t next_pairs(const struct next_limits *l);

/* Whether another pair of runs is likely to show enough to be worth making.  Sets *d if the
 * function had to decide what the runs mean so far. */
bool next_is_pair(const struct next_limits *l, const struct decide_runs *runs, struct decision *d);

/* How many runs the control group should have by now; it has `have`. */
size_t next_controls(const struct next_limits *l, const struct decide_runs *runs, size_t have);

/* Whether the first runs did not reach the race, so that further runs will not reach it either. */
bool next_is_hopeless(const struct decide_runs *runs);

/* Whether the first two control runs had the same schedule.  Then differences in their output do
 * not depend on the schedule and are masked. */
bool next_is_maskable(const struct decide_runs *runs);

/* ---- whether runs reached the race, and how ---- */

/* A run that was led to both accesses and met an obstacle, or NULL. */
const struct trial *next_apart(const struct decide_runs *runs);

/* Whether two threads were stopped at their accesses at the same time: then the race is proven. */
bool next_is_met(const struct decide_runs *runs);

/* A sentence that states why none of the runs reached the race. */
const char *next_why_none(const struct decide_runs *runs);

/* Whether the finding states that both threads were stopped at their accesses at the same time.
 * Then both orders are possible, even if something keeps the threads apart on another way to the
 * race. */
bool next_has_met(const struct finding *f);

/* The search for ad-hoc synchronisation that is worth its runs: adhoc_flag() or adhoc_apart(). */
enum next_order { NEXT_NO_ORDER, NEXT_FLAG, NEXT_APART };
enum next_order next_order(const struct decision *d, const struct decide_runs *runs, bool has_met);

/* ---- evidence ---- */

/* Whether the class means that the race is harmful. */
bool next_is_bad(const struct decision *d);

/* What went wrong in the run that shows the class (d->shows): its fault, "exit-status" or
 * "output". */
const char *next_consequence(const struct decide_runs *runs, const struct decision *d);

/* Whether the run `again` reproduced the run `seen`. */
bool next_is_same(const struct decision *d, const struct trial *seen, const struct trial *again);

/* Whether a time limit, not the schedule, decided what a run did.  Then a different result proves
 * little. */
bool next_is_unsure(const struct trial *t);

/* number of repetitions before a harmful class is reported; README and reports state it */
#define NEXT_REPLAYS 2

/* The repetitions of a schedule so far; all zero at first. */
struct next_repeat {
	unsigned done, unsure;
	bool failed;
};

/* Whether another run is needed.  If not, `failed` is the result.  next_repeated() notes a run. */
bool next_repeats(const struct next_repeat *r);
void next_repeated(struct next_repeat *r, bool same, bool unsure);

/* Whether to try once more to record the schedule of a run that was not reproduced.  `tries`
 * attempts were made. */
bool next_writes_down(unsigned tries, bool same, bool unsure);

/* The attempts to show a harmful class so far; all zero at first. */
struct next_show {
	unsigned tries;
	bool fault; /* a fault was seen that could not be reproduced */
};

/* Whether the class is harmful and another attempt to show it is worth its runs. */
bool next_shows(const struct next_show *s, const struct decision *d);

/* Called when a run could not be reproduced.  The run is ignored from now on, and *d is decided
 * again. */
void next_lost(struct next_show *s, struct decide_runs *runs, struct decide_place lost, struct decision *d);

/* Called when all attempts have failed.  Returns whether the remaining runs justify a class. */
bool next_is_left(const struct next_show *s, const struct decision *d);

#endif
