/* SPDX-License-Identifier: Apache-2.0 */
/* From traces to findings or numbers, with what the user says about the effort. */
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
	bool sync_preserving; /* critical sections of a lock keep their order: fast */
	bool force;	      /* without meta.json or site table, if need be */
	uint64_t window;      /* events; 0: the whole */
	uint64_t limit;	      /* findings to describe */
	uint64_t work;	      /* millions of search steps */
	int64_t deadline_ns;  /* when to stop (base/clock.h); 0: never.  Put off by what the caller of a pass
				 does meanwhile, */
	int64_t latest_ns;    /* and until then, so that a trace which takes long to read is looked at */
	uint64_t memory;      /* bytes that may be used; a larger trace is cut into parts.  0: any */
	bool failures;	      /* a run that failed by itself is a finding */
	bool ended;	      /* likewise: the run had to be ended */
	bool unlisted;	      /* what the run shows unordered is no finding without a schedule */

	/* Results, summed up. */
	uint64_t left_out;     /* findings beyond the limit */
	uint64_t not_recorded; /* accesses that are not in the trace, since the run was long */
	uint64_t unknown;      /* candidates that were not decided */
	uint64_t parts;	       /* of the trace that was cut into most; 0: none was cut */
	uint64_t skipped;      /* parts that there was no time for */
	bool late;	       /* the deadline came before everything was decided and described */
	bool walked;	       /* a large trace was looked at as a whole for what it shows unordered */
	bool looked;	       /* at some part of some trace, at least in recorded order, in time */
	uint64_t events, considered, searched, dropped;
	uint64_t threads;	/* of the trace with most of them */
	uint64_t at_start;	/* runs that failed before they did anything */
	struct rd_argv modules; /* what the runs had loaded: paths, to be released */
	struct predict_count counts[PREDICT_COUNT_MODELS];
	double reading_seconds; /* CPU time until the search began; with counts */
};

#define PREDICT_BATCH_DEFAULT                                                                                \
	{                                                                                                    \
		.limit = 200, .work = 200                                                                    \
	}

/* The memory that a prediction may use if nobody says how much: it suits a laptop. */
uint64_t predict_batch_memory(void);

/* Adds the findings of a trace, a directory or an STD text, to the set, which is not finished, and the
 * arguments of its program.  Of a damaged trace what could be read is looked at, and the error returned. */
int predict_batch_run(struct predict_batch *p, const char *trace, struct finding_set *set);

/* The same for the trace of a replay, of which there may be many, with less work; the set is finished then.
 * `batch` is a struct predict_batch, which stays as it is: this is a `predict` of replay/settle.h. */
int predict_batch_again(void *batch, const char *trace, struct finding_set *set);

/* Adds only what the trace of a run itself shows unordered, without a search: findings without schedules; and
 * the failure that it ended in.  The set is finished then. */
int predict_batch_look(struct predict_batch *p, const char *trace, struct finding_set *set);

/* Whether the trace in a directory shows accesses of the two sites firmly unordered: they raced in that run.
 */
bool predict_batch_shows(const char *trace, const uint32_t sites[2]);

/* Counts instead of describing; the set gets the numbers as statistics, `counts` those of the models
 * that the options leave, the others stay zero. */
int predict_batch_count(struct predict_batch *p, const char *trace, struct finding_set *set, bool pairs);

/* The models that are counted are the first so many. */
unsigned predict_batch_models(const struct predict_batch *p);

/* predict_hang() for the trace in a directory; writes a finding document if the program stands. */
struct predict_sleepers;
bool predict_batch_hang(const char *trace, const struct predict_sleepers *sleepers, FILE *out);

/* Puts the sums into the statistics of the set. */
void predict_batch_stats(const struct predict_batch *p, struct finding_set *set);

#endif
