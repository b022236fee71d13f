/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exploration runs a program under many generated schedules.  A strategy derives each schedule
 * from a seed.  The result is a finding for each failure.  The schedule of a finding contains only
 * the decisions that are needed to show the failure.  doc/design/explore.md describes the
 * strategies, what counts as a failure, and when an exploration ends.
 *
 * The program is used in its flavour `led`, whose threads take turns, so a run is determined by its
 * schedule.
 */
#ifndef EXPLORE_EXPLORE_H
#define EXPLORE_EXPLORE_H

#include "explore/cover.h"
#include "trial/trial.h"

#define EXPLORE_FLAVOUR "led"

/* The number of initial schedules.  They are explored in small tasks, and are never distributed to
 * shards.  Nearly every one of these runs shows something new, and later schedules depend on what
 * the earlier ones showed. */
#define EXPLORE_FIRST 54

/* The cost of starting and judging a run, in points.  On a small VM, this took 1.2 ms, and a point
 * took 0.5 us. */
#define EXPLORE_RUN_WORK 2000

enum explore_stop {
	EXPLORE_GOES_ON,
	EXPLORE_SETTLED,     /* the last schedules showed nothing new */
	EXPLORE_ENOUGH,	     /* the requested or maximum number of schedules was run */
	EXPLORE_TIME,	     /* the time is up */
	EXPLORE_FAILED,	     /* a failure was found, and the caller wants no more */
	EXPLORE_INTERRUPTED, /* a signal ended the exploration */
};

struct explore_progress {
	uint64_t schedules, different, failures;
	double seconds_left; /* 0 if there is no limit */
};

struct explore { /* zero values are the defaults */
	struct replay_conditions runs;
	unsigned jobs; /* number of concurrent runs; 0 means one */
	uint64_t seed; /* the seed of the exploration; 0 means 1 */
	uint64_t most; /* number of schedules to run; 0 means until they show nothing new */
	/* The exploration ends after this much work (in points) has shown nothing new.  The work
	 * of a run is its extent plus EXPLORE_RUN_WORK.  If this limit is 0, the number of
	 * schedules decides. */
	uint64_t quiet;
	int64_t time_ns; /* time limit of the exploration, or 0 for none */
	/* a command that exits with 0 if the run failed (trial/judge.h), or NULL if the program's
	 * exit status decides */
	const char *fail_if;
	/* the name of the only strategy to use (explore/strategies.c), or NULL for all in turn */
	const char *strategy;
	/* the name of the only kind of points to use, or NULL for all in turn */
	const char *points;
	const char *log; /* the path of the log (explore/log.h), or NULL for no log */
	bool resume;	 /* continue where this log and the logs of shards beside it end */
	bool collect;	 /* with `resume`: run no further schedules */
	/* Explore only schedules shard, shard + shards, ..., with a separate log, LOG.shard, and do
	 * not process failures further.  If shards is 0, explore all schedules. */
	unsigned shard, shards;
	const struct finding_set *suggested; /* races whose accesses are points from the start; may be NULL */
	bool go_on;			     /* continue after the first failure */
	void (*progress)(void *context, const struct explore_progress *so_far); /* may be NULL */
	void *context;
};

/* A schedule that is worth recording, because two accesses were unordered in it or because it
 * showed something new. */
struct explore_racy {
	/* number of the schedule, and the number of choices that its strategy expected */
	uint64_t number, length;
	uint64_t threads;   /* the number of threads that its strategy expected */
	uint64_t most;	    /* extent at which the run is ended, or 0 for no limit */
	const char *prefix; /* the schedule that it extends, as text, or NULL */
	uint64_t kept;	    /* how many decisions of `prefix` it keeps */
	uint32_t site[2];   /* sites of the unordered accesses, in the flavour `led` */
};

#define EXPLORE_RACY 64 /* maximum number of schedules with unordered accesses that are kept */
/* maximum number of schedules that showed conflicting places in a new order and are kept */
#define EXPLORE_NEW 8

struct explore_result {
	uint64_t schedules; /* number of runs that count */
	uint64_t different; /* number of different sequences of choices among these runs */
	/* number of the last schedule that showed a new race or failure, from 1 */
	uint64_t last_new;
	/* number of runs that do not count, since they left their schedule or did not end */
	uint64_t discarded;
	const char *why; /* the reason why the first of these runs does not count; may be NULL */
	/* number of the first schedule that failed, from 1, or 0 if none failed */
	uint64_t first_failure;
	/* number of failures that could not be reproduced and are not reported */
	uint64_t unrepeated;
	/* extent at which a run with points only at operations is considered endless */
	uint64_t extent;
	enum explore_stop stop;
	struct explore_racy racy[EXPLORE_RACY];
	size_t racy_count;
	uint32_t (*seen)[2]; /* pairs of sites that the detector saw unordered, in any schedule */
	size_t seen_count;
	/* schedules that showed conflicting places in a new order; their `site` is 0 */
	struct explore_racy new_ones[EXPLORE_NEW];
	size_t new_count;
	struct cover cover; /* pairs of conflicting places */
	struct rd_arena *arena;
};

/* Explores the program and adds its failures to the set.  They are confirmed, because each was
 * reproduced three times.  SIGINT, SIGTERM and SIGHUP end the exploration early.  `result` must be
 * zero before the call; the caller releases it even after a failure. */
int explore_run(const struct explore *how, struct finding_set *set, struct explore_result *result);
void explore_result_release(struct explore_result *result);

/* Records one run of a program in the flavour `record` into the directory `trace`.  The run
 * follows the schedule of `which`, but ignores its sites.  *counts is set if the run kept its
 * schedule, and either ended by itself or was cut off, for example because it reached the extent
 * of `which`.  `made` receives the schedule with all decisions; `made->turns` is false if the
 * decisions are not known.  `made` must be zero before the call, and the caller releases it. */
int explore_record(const struct explore *how, const struct explore_racy *which, const char *trace,
		   bool *counts, struct schedule *made);

/* Selects races that were predicted from a run of explore_record() (`seen`), and that are known
 * but not reproduced yet.  Returns a copy of each such race with the schedule of the run.  With
 * this schedule, the run can be repeated and checked for unordered accesses, which is the only way
 * to show some races.  For example, a value that is passed in relaxed order may keep the two
 * accesses apart in time.  Then the two threads can never be stopped at both accesses at once. */
struct finding_set *explore_look_again(const struct finding_set *seen, const struct finding_set *known,
				       const struct schedule *made);

/* These return true if there is a strategy, or a kind of points, of this name. */
bool explore_is_strategy(const char *name);
bool explore_is_points(const char *name);

#endif
