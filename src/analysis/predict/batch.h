/* SPDX-License-Identifier: Apache-2.0 */
/* Turns traces into findings or counts, within the limits that the user sets. */
#ifndef PREDICT_BATCH_H
#define PREDICT_BATCH_H

#include "base/process.h"
#include "finding/finding.h"
#include "predict/count.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct predict_batch {
	bool sound_only, no_races, no_deadlocks;
	/* Consider only schedules in which the critical sections of each lock keep their recorded
	 * order.  Searching such schedules is fast. */
	bool sync_preserving;
	bool force; /* accept a trace without meta.json or site table */
	/* The number of events in a window; 0 if the trace is not cut into windows. */
	uint64_t window;
	uint64_t limit; /* the largest number of findings to describe */
	uint64_t work;	/* the budget of the search, in millions of steps */
	/* The time at which to stop (base/clock.h), or 0 for no deadline.  While a pass is paused
	 * between two calls, the deadline moves by the length of the pause. */
	int64_t deadline_ns;
	/* The latest time to which the deadline may move if the trace takes long to read. */
	int64_t latest_ns;
	/* The number of bytes that may be used, or 0 for no limit.  If a trace needs more, it is
	 * cut into parts. */
	uint64_t memory;
	bool failures;	     /* report a run that failed by itself as a finding */
	bool ended;	     /* also report a run that Raddle had to end */
	bool scheduled_only; /* leave out unordered accesses that have no schedule */

	/* The following members are results, summed over all traces. */
	uint64_t left_out; /* number of findings beyond the limit */
	/* The number of accesses that the recording left out because the run was long. */
	uint64_t not_recorded;
	uint64_t unknown; /* number of candidates that were not decided */
	uint64_t parts;	  /* the largest number of parts of any trace; 0 if no trace was cut */
	uint64_t skipped; /* number of parts for which there was no time */
	bool late;	  /* the deadline passed before everything was decided and described */
	bool walked;	  /* the walk for unordered accesses was done */
	/* True if some part of some trace was checked in time, at least in recorded order. */
	bool looked;
	uint64_t events, considered, searched, dropped;
	uint64_t threads;	/* number of threads of the trace with the most threads */
	uint64_t at_start;	/* number of runs that failed before any thread did anything */
	struct rd_argv modules; /* paths of the loaded modules; the caller releases them */
	struct predict_count counts[PREDICT_COUNT_SEMANTICS];
	/* The CPU time until the search began.  It is set only when races are counted. */
	double reading_seconds;
};

#define PREDICT_BATCH_DEFAULT                                                                                \
	{                                                                                                    \
		.limit = 200, .work = 200                                                                    \
	}

/* Returns the default limit of memory for a prediction, in bytes. */
uint64_t predict_batch_memory(void);

/* Predicts races and deadlocks from a trace, which is a directory or an STD text.  Adds the
 * findings and the arguments of the traced program to the set.  The caller must finish the set.
 * If the trace is damaged, the function uses as much as it can read and returns the error. */
int predict_batch_run(struct predict_batch *p, const char *trace, struct finding_set *set);

/* Does the same as predict_batch_run() for the trace of a replay, and finishes the set.  The
 * function spends less effort, because there may be many replays.  `batch` points to a struct
 * predict_batch, which is not changed.  The function serves as a `predict` callback of
 * replay/settle.h. */
int predict_batch_again(void *batch, const char *trace, struct finding_set *set);

/* Adds findings for the accesses that are unordered in the recorded run itself, and for the
 * failure of the run.  Does not search for other schedules.  Only firm accesses, which certainly
 * raced in the run, get a schedule.  The function also finishes the set. */
int predict_batch_look(struct predict_batch *p, const char *trace, struct finding_set *set);

/* Returns true if accesses of the two sites certainly raced in the recorded run (are firm). */
bool predict_batch_shows(const char *trace, const uint32_t sites[2]);

/* Counts races without describing them, and adds the counts to the statistics of the set.
 * `p->counts` receives the counts of the semantics that the options select.  Its other entries
 * stay zero. */
int predict_batch_count(struct predict_batch *p, const char *trace, struct finding_set *set, bool pairs);

/* Returns the number of semantics that are counted.  These are the first ones of enum
 * predict_count_semantics. */
unsigned predict_batch_semantics(const struct predict_batch *p);

struct predict_sleepers;
/* Calls predict_hang() for the trace in a directory.  Writes a finding document if the program is
 * stuck. */
bool predict_batch_hang(const char *trace, const struct predict_sleepers *sleepers, FILE *out);

/* Adds the sums over all traces to the statistics of the set. */
void predict_batch_stats(const struct predict_batch *p, struct finding_set *set);

#endif
