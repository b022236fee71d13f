/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exploration: runs a program under many generated schedules.  A strategy derives each schedule
 * from a seed.  In: a program.  Out: findings, one for each failure, whose schedules contain only
 * the decisions needed to show the failure.  doc/design/explore.md describes the strategies, what
 * counts as a failure, and when an exploration ends.
 *
 * The program is used in its flavour `led`, whose threads take turns, so a run is determined by its
 * schedule.
 */
#ifndef EXPLORE_EXPLORE_H
#define EXPLORE_EXPLORE_H

#include "explore/cover.h"
#include "trial/trial.h"

#define EXPLORE_FLAVOUR "led"

/* The first schedules are explored in small tasks, and never by shards: nearly every one of these
 * runs shows something new, and later runs depend on what is known. */
#define EXPLORE_FIRST 54

/* Starting and judging a run takes about as long as this many points: 1.2 ms against 0.5 us,
 * measured on a small VM. */
#define EXPLORE_RUN_WORK 2000

enum explore_stop {
	EXPLORE_GOES_ON,
	EXPLORE_SETTLED,     /* the last schedules showed nothing new */
	EXPLORE_ENOUGH,	     /* as many schedules as the caller wanted */
	EXPLORE_TIME,	     /* the time is up */
	EXPLORE_FAILED,	     /* a failure was found, and the caller wants no more */
	EXPLORE_INTERRUPTED, /* by a signal */
};

struct explore_progress {
	uint64_t schedules, different, failures;
	double seconds_left; /* 0: there is no limit */
};

struct explore { /* zero values are the defaults */
	struct replay_conditions runs;
	unsigned jobs;	     /* runs at a time; 0: one */
	uint64_t seed;	     /* of the exploration; 0 means 1 */
	uint64_t most;	     /* number of schedules; 0: until they show nothing new */
	uint64_t quiet;	     /* work without anything new, in points, after which it settles; 0: it settles by
				the number of schedules.  Each run adds EXPLORE_RUN_WORK to its points */
	int64_t time_ns;     /* time limit of the exploration; 0: none */
	const char *fail_if; /* a command that exits with 0 if the run failed (trial/judge.h); NULL: the exit
				status decides */
	const char *strategy; /* the only one to use, by name (explore/strategies.c); NULL: all in turn */
	const char *log;      /* a file for the log (explore/log.h); NULL: no log */
	bool resume;	      /* continue where that log, and those of shards beside it, end */
	bool collect;	      /* read these logs, but run no further schedules */
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
	uint64_t number, length; /* the schedule, and what its strategy expected: the length of the run */
	uint64_t threads;	 /* and the number of threads */
	uint64_t most;		 /* extent at which the run is ended; 0: no limit */
	const char *prefix;	 /* the schedule that it extends; NULL: none */
	uint64_t kept;		 /* how many decisions of that it keeps */
	uint32_t site[2];	 /* of the unordered accesses, in the flavour `led` */
};

#define EXPLORE_RACY 64 /* how many schedules with unordered accesses are kept, */
#define EXPLORE_NEW 8	/* and how many that showed conflicting places in a new order */

struct explore_result {
	uint64_t schedules;	/* number of runs that count */
	uint64_t different;	/* how many of them made different choices */
	uint64_t last_new;	/* the last schedule that showed a new race or failure, from 1 */
	uint64_t discarded;	/* runs that do not count: they left their schedule or did not end, */
	const char *why;	/* and the reason for the first of them; may be NULL */
	uint64_t first_failure; /* the first schedule that failed, from 1; 0: none failed */
	uint64_t unrepeated;	/* failures that could not be reproduced and are not reported */
	uint64_t extent;	/* at which a run with points at operations only is considered endless */
	enum explore_stop stop;
	struct explore_racy racy[EXPLORE_RACY];
	size_t racy_count;
	uint32_t (*seen)[2]; /* pairs of sites that the detector saw unordered, in any schedule */
	size_t seen_count;
	struct explore_racy new_ones[EXPLORE_NEW]; /* without sites */
	size_t new_count;
	struct cover cover; /* pairs of conflicting places */
	struct rd_arena *arena;
};

/* Explores the program and adds its failures to the set.  They are confirmed: each was reproduced
 * three times.  SIGINT, SIGTERM and SIGHUP end the exploration early.  `result` must be zero before
 * the call; the caller releases it even after a failure. */
int explore_run(const struct explore *how, struct finding_set *set, struct explore_result *result);
void explore_result_release(struct explore_result *result);

/* Records one run of a program in the flavour `record` under the schedule of `which`, whose sites
 * are ignored, into the directory `trace`.  *counts is set if the run kept its schedule and either
 * ended by itself or was cut off, for example at the extent of `which`.  `made` receives the
 * schedule with all decisions; `made->turns` is false if they are not known.  It must be zero
 * before the call, and the caller releases it. */
int explore_record(const struct explore *how, const struct explore_racy *which, const char *trace,
		   bool *counts, struct schedule *made);

/* Selects the races predicted from such a run (`seen`) that are known but not reproduced yet.  Each
 * is returned as a copy whose schedule is that of the run, so that the run can be repeated and
 * checked for unordered accesses.  This is the only way to show some races: if a value passed in
 * relaxed order keeps the two accesses apart in time, the two threads can never be stopped at both
 * accesses at once. */
struct finding_set *explore_look_again(const struct finding_set *seen, const struct finding_set *known,
				       const struct schedule *made);

/* Whether there is a strategy of that name. */
bool explore_is_strategy(const char *name);

#endif
