/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prediction: finds the races and deadlocks in reorderings of one execution.
 *
 * There are two semantics.  Sound: every thread does a prefix of what it did in the recorded run.
 * Every read before the error returns the value of the same write as in that run.  So every result
 * can happen.  Speculative (Carril and Tichy): reads may return other values, so control flow may
 * differ, and a result has to be confirmed by a replay.
 *
 * With max_tries = UINT32_MAX the answer is exact for the recorded events under either semantics.
 * A pair of sites is then reported if and only if a schedule exists, unless a question is counted
 * as unknown.  By default, pairs that have failed often are given up.
 */
#ifndef PREDICT_PREDICT_INT_H
#define PREDICT_PREDICT_INT_H

#include "base/map.h"
#include "order/exec.h"

enum predict_class { PREDICT_SOUND, PREDICT_SPECULATIVE };

/* How a result was found: in recorded order, or by exact search. */
enum predict_tier { PREDICT_RECORDED_ORDER = 1, PREDICT_EXACT = 2 };

struct predict_result;

/* A pair of sites, in either order. */
static inline uint64_t predict_pair_key(uint32_t a, uint32_t b)
{
	return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

struct predict_opts { /* all zero: the default */
	bool no_races, no_deadlocks;
	bool sound_only, speculative_only;
	bool recorded_order_only; /* tier 1 alone: sync-preserving */
	bool count_events;	  /* decide for every access whether it is the second one of a race */
	uint32_t begin;		  /* events before this one have happened, as recorded */
	uint32_t window;	  /* events of a window; 0: no windows, unless `memory` requires them */
	uint64_t memory;	  /* bytes that the clocks of very many threads may take; 0: no limit */
	uint32_t max_tries;	  /* pairs to try for one event and thread; 0: 64; UINT32_MAX: all */
	uint32_t max_cycle;	  /* threads of a deadlock; 0: any number */
	int64_t total_work;	  /* steps for all questions of a phase; 0: 1 billion, or unlimited with
				     count_events */
	int64_t work;		  /* steps for one question; 0: 50 million */
	int64_t deadline_ns;	  /* when to stop (base/clock.h), sound semantics earlier; 0: never */
	struct rd_umap *pairs; /* pairs of sites (predict_pair_key()) with a known race, by class; NULL: none,
				  and only this execution counts */
	const struct rd_umap *wanted; /* pairs of sites; other races are not looked for; NULL: all are */
};

/* The way to the error.  Threads without a target run up to and including `done`, threads with a
 * target up to their target. */
struct predict_witness {
	uint32_t *done;	 /* per thread: the last event it does; EXEC_NONE: it does nothing */
	uint32_t *order; /* the events whose order matters; NULL: the recorded order */
	size_t length;
};

struct predict_race {
	uint32_t first, second; /* events, in recorded order */
	enum predict_class class;
	enum predict_tier tier;
	struct predict_witness witness;
};

struct predict_deadlock {
	uint32_t *stops; /* the events that cannot happen any more */
	uint32_t count;
	enum predict_class class;
	enum predict_tier tier;
	struct predict_witness witness;
};

struct predict_stats {	     /* for each class */
	uint64_t candidates; /* pairs that must-order and locks allow */
	uint64_t searches;
	uint64_t unknown; /* questions whose budget ran out */
};

struct predict_result {
	struct predict_race *races; /* one for each pair of sites and class */
	size_t race_count, race_capacity;
	struct predict_deadlock *deadlocks;
	size_t deadlock_count, deadlock_capacity;
	struct predict_stats stats[2];
	uint64_t kept;	 /* events left after reduction */
	uint32_t pieces; /* number of pieces that the execution was cut into; 0: it was not cut */
	bool late;	 /* the deadline came before everything was decided */
	bool looked;	 /* each pair of threads was checked in recorded order before the deadline */
	uint8_t *racy;	 /* by event, with count_events: 1 << class if it is the second access of a race */
};

/* Prediction in steps.  Each step looks for races with some effort (race-int.h), or for deadlocks,
 * with one semantics and in one window.  It adds its results.  Between two steps the caller may
 * remove the results (predict_result_clear()).  The execution and what the options point to must
 * not change until predict_close(), which accepts NULL. */
struct predict_steps;
int predict_open(struct predict_steps **steps, const struct exec *x, const struct predict_opts *o,
		 struct predict_result *out);
bool predict_next(struct predict_steps *steps); /* false: the prediction is finished */
void predict_close(struct predict_steps *steps);

/* Moves the deadline by the time that the caller took for something else. */
void predict_extend_deadline(struct predict_steps *steps, int64_t ns);

/* All steps.  `out` is released with predict_result_release(), even after a failure. */
int predict_run(const struct exec *x, const struct predict_opts *o, struct predict_result *out);
void predict_result_release(struct predict_result *r);

/* Removes the races and deadlocks only. */
void predict_result_clear(struct predict_result *r);

#endif
