/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside explore/: what an exploration knows, and what it does next.  In: notes of runs.  Out: the
 * next schedule, its limits, and whether the exploration ends.  Nothing here starts a program or
 * reads a clock; the time since the start is passed as an argument.
 */
#ifndef EXPLORE_STATE_INT_H
#define EXPLORE_STATE_INT_H

#include "explore/explore.h"
#include "explore/note.h"
#include "explore/prefix.h"

enum {
	EXPLORE_RACES = 256,	/* maximum number of races (pairs of sites) that are kept */
	EXPLORE_SUGGESTED = 64, /* maximum number of sites that findings suggest as points */
	/* maximum number of different failures; each takes up to 200 runs to minimise
	 * (explore/repeat.c) */
	EXPLORE_FAILURES = 16,
	/* number of schedules that are kept for each race; more than one, because a recorded run
	 * may differ from the explored run */
	EXPLORE_RACY_TIMES = 3,
};

struct explore_state {
	const struct explore *how;
	struct explore_result *result; /* its counters are part of the state */
	struct rd_umap trails;	       /* the trails of all runs so far */
	struct rd_umap done;	       /* numbers of the schedules that an earlier exploration has run */
	struct note_race races[EXPLORE_RACES];
	size_t race_count;
	uint32_t suggested[EXPLORE_SUGGESTED]; /* sites of the races that the caller suggests */
	size_t suggested_count;
	/* the threads of the run that had the most threads so far and, among such runs, the most
	 * points */
	struct note_thread *threads;
	size_t thread_count;
	uint64_t length[POINTS_KINDS]; /* largest number of choices of a run, by kind of points */
	/* largest extent of a run that ended by itself, by kind of points */
	uint64_t longest[POINTS_KINDS];
	uint64_t cut; /* number of runs that were ended at their limit of extent */
	/* number of runs that branched off after a decision, and of those that left their schedule */
	uint64_t branches, strayed;
	struct prefixes prefixes; /* prefixes from runs that showed something new */
	/* pairs of sites that were shown by runs with points only at operations */
	struct cover recordable;
	struct note failures[EXPLORE_FAILURES];
	size_t failure_count;
	size_t repeated;     /* number of these failures that repeat_failures() has processed */
	int usual_status;    /* exit status of the first run, or -1 if not known */
	uint64_t given;	     /* number of schedules that were given to workers */
	int64_t run_ns;	     /* processor time of the runs that ended */
	uint64_t run_extent; /* sum of the extents of these runs */
	/* how many schedules, and how many different ones, had been run at the end of the last
	 * window */
	uint64_t window_end, window_new;
	uint64_t quiet_work; /* the work (`quiet` of struct explore) since something new was seen */
	uint64_t quiet_runs; /* the number of runs since something new was seen */
	/* fewer than WINDOW_NEW of the schedules in the last window were new (learn.c) */
	bool repeats;
};

void explore_state_init(struct explore_state *s, const struct explore *how, struct explore_result *result);
void explore_state_release(struct explore_state *s);

/* ---- learning from runs ---- */

/* Learns from the note of a run.  The note's arrays and texts must live as long as the state. */
void explore_learn(struct explore_state *s, const struct note *n);

/* Does the same as explore_learn(), but also removes from the note what the state already knew.
 * If the shortened notes are logged, the state can be restored from the log. */
void explore_learn_new(struct explore_state *s, struct note *n);

/* Notes that `count` runs were lost with the process that made them. */
void explore_learn_lost(struct explore_state *s, uint64_t count);

/* ---- choosing the next step ---- */

/* Returns why the exploration ends now, `elapsed_ns` after its start, or EXPLORE_GOES_ON if it
 * continues. */
enum explore_stop explore_next_stop(const struct explore_state *s, int64_t elapsed_ns);

/* Returns how many schedules the next task has, which is at least one if the exploration
 * continues. */
uint64_t explore_next_batch(const struct explore_state *s);

/* Returns true if the next task has to wait for the first task, on whose result all others
 * depend. */
bool explore_next_waits(const struct explore_state *s);

/* Returns the number of the n-th schedule of this shard, from 0. */
uint64_t explore_number(const struct explore_state *s, uint64_t n);

/* Returns the limit for the extent of a run (how much it has done, in points).  A run that reaches
 * it is ended, because it probably hangs (for example after a lost update) or never ends. */
uint64_t explore_extent(const struct explore_state *s, uint64_t number, enum draw_points points);

/* Returns true if runs are long.  Then more schedules branch off from earlier runs, at points
 * after which those runs showed something new.  Several schedules branch off at the same point, so
 * that they can continue from a frozen program (trial/snapshots.c).  For short runs, it is better
 * to branch off at different points.  Runs do not count as long if many branches leave their
 * schedules, because real time influences the program. */
bool explore_is_long(const struct explore_state *s);

/* Whether one run with this extent and this number of threads is long. */
bool explore_is_long_run(uint64_t extent, uint64_t threads);

/* Everything that determines the run of a schedule. */
struct explore_plan {
	struct draw draw;
	struct prefix_part from; /* the part of a prefix that it extends */
	uint64_t branch;	 /* number of decisions that it shares with other schedules, or 0 */
	struct schedule schedule;
	struct replay_strategy strategy; /* the strategy, with length and weights */
	uint64_t extent;
};

/* Plans a schedule; the arena owns its weights.  Release the plan even after a failure. */
int explore_plan(struct explore_state *s, uint64_t number, struct rd_arena *arena, struct explore_plan *plan);
void explore_plan_release(struct explore_plan *plan);

/* Returns the n-th number, from 1, of Luby's sequence, which begins 1 1 2 1 1 2 4 1 1 2 1 1 2 4
 * 8. */
uint64_t explore_luby(uint64_t n);

#endif
