/* SPDX-License-Identifier: Apache-2.0 */
/* From traces to findings or counts, within the limits that the user sets. */
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
	bool sync_preserving; /* critical sections of a lock keep their recorded order: fast */
	bool force;	      /* accept a trace without meta.json or site table */
	uint64_t window;      /* events in a window; 0: no windows */
	uint64_t limit;	      /* number of findings to describe */
	uint64_t work;	      /* millions of search steps */
	int64_t deadline_ns;  /* when to stop (base/clock.h); 0: never.  The time that the caller of a pass
				 takes between two calls is added */
	int64_t latest_ns;    /* the latest deadline, to which a trace that takes long to read may move it */
	uint64_t memory;      /* bytes that may be used; a larger trace is cut into parts.  0: no limit */
	bool failures;	      /* report a run that failed by itself as a finding */
	bool ended;	      /* report a run that Raddle had to end, too */
	bool scheduled_only;  /* do not report unordered accesses without a schedule */

	/* Results, summed over all traces. */
	uint64_t left_out;     /* findings beyond the limit */
	uint64_t not_recorded; /* accesses that the recording left out because the run was long */
	uint64_t unknown;      /* candidates that were not decided */
	uint64_t parts;	       /* number of parts of the trace with most parts; 0: no trace was cut */
	uint64_t skipped;      /* parts for which there was no time */
	bool late;	       /* the deadline came before everything was decided and described */
	bool walked;	       /* the walk for unordered accesses was done */
	bool looked;	       /* some part of some trace was checked in time, at least in recorded order */
	uint64_t events, considered, searched, dropped;
	uint64_t threads;	/* of the trace with most threads */
	uint64_t at_start;	/* runs that failed before any thread did anything */
	struct rd_argv modules; /* paths of the loaded modules; the caller releases them */
	struct predict_count counts[PREDICT_COUNT_SEMANTICS];
	double reading_seconds; /* CPU time until the search began; only with counts */
};

#define PREDICT_BATCH_DEFAULT                                                                                \
	{                                                                                                    \
		.limit = 200, .work = 200                                                                    \
	}

/* The default limit of memory for a prediction, in bytes. */
uint64_t predict_batch_memory(void);

/* Adds the findings of a trace (a directory or an STD text) and the arguments of its program to the
 * set.  The caller finishes the set.  Of a damaged trace, as much as can be read is used, and the
 * error is returned. */
int predict_batch_run(struct predict_batch *p, const char *trace, struct finding_set *set);

/* The same for the trace of a replay, with less effort because there may be many replays.  Finishes
 * the set.  `batch` points to a struct predict_batch and is not changed.  The function serves as a
 * `predict` callback of replay/settle.h.
 */
int predict_batch_again(void *batch, const char *trace, struct finding_set *set);

/* Adds the accesses that the run itself shows unordered, without a search.  Only firm ones get a
 * schedule.  Adds the failure of the run, too, and finishes the set. */
int predict_batch_look(struct predict_batch *p, const char *trace, struct finding_set *set);

/* Whether the trace shows accesses of the two sites firmly unordered: they raced in that run. */
bool predict_batch_shows(const char *trace, const uint32_t sites[2]);

/* Counts races instead of describing them.  The set gets the numbers as statistics.  `counts` gets
 * those of the semantics that the options select; the others stay zero. */
int predict_batch_count(struct predict_batch *p, const char *trace, struct finding_set *set, bool pairs);

/* How many semantics are counted: the first so many of enum predict_count_semantics. */
unsigned predict_batch_semantics(const struct predict_batch *p);

/* predict_hang() for the trace in a directory; writes a finding document if the program is stuck.
 */
struct predict_sleepers;
bool predict_batch_hang(const char *trace, const struct predict_sleepers *sleepers, FILE *out);

/* Puts the sums into the statistics of the set. */
void predict_batch_stats(const struct predict_batch *p, struct finding_set *set);

#endif
