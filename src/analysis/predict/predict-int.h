/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prediction: finds the races and deadlocks in reorderings of one execution.
 *
 * There are two semantics.  With sound semantics, every thread does a prefix of what it did in the
 * recorded run, and every read before the error returns the value of the same write as in that run.
 * So every result can happen.  With speculative semantics (Carril and Tichy), reads may return
 * other values.  So control flow may differ, and a result has to be confirmed by a replay.
 *
 * A *question* asks whether some schedule leads to one candidate.  With max_tries = UINT32_MAX the
 * answers are exact for the recorded events under either semantics.  A pair of sites is reported if
 * and only if a schedule exists, unless a question is counted as unknown.  By default, pairs of
 * sites that have failed often are given up.
 */
#ifndef PREDICT_PREDICT_INT_H
#define PREDICT_PREDICT_INT_H

#include "base/map.h"
#include "order/exec.h"

enum predict_class { PREDICT_SOUND, PREDICT_SPECULATIVE };

/* How a result was found: in recorded order, or by exact search. */
enum predict_tier { PREDICT_RECORDED_ORDER = 1, PREDICT_EXACT = 2 };

struct predict_result;

/* Returns a number for a pair of sites.  The order of the two does not matter. */
static inline uint64_t predict_pair_key(uint32_t a, uint32_t b)
{
	return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

struct predict_opts { /* zero for the default */
	bool no_races, no_deadlocks;
	bool sound_only, speculative_only;
	/* Use only tier 1, which looks for schedules that keep the order of critical sections. */
	bool recorded_order_only;
	bool count_events; /* decide for every access whether it is the second one of a race */
	/* The first event that may be reordered; earlier events happen as recorded. */
	uint32_t begin;
	/* The number of events in a window.  0 means no windows, unless `memory` requires them. */
	uint32_t window;
	/* The largest size of the vector clocks in bytes, or 0 for no limit.  It matters only for
	 * programs with very many threads. */
	uint64_t memory;
	/* The largest number of pairs that are tried for one access and one other thread.  0 means
	 * 64, and UINT32_MAX means no limit. */
	uint32_t max_tries;
	uint32_t max_cycle; /* largest number of threads in a deadlock; 0 for any number */
	/* The largest number of steps for all questions of a phase together.  0 means 1 billion or,
	 * with count_events, no limit. */
	int64_t total_work;
	int64_t work; /* largest number of steps for one question; 0 means 50 million */
	/* The time at which to stop (base/clock.h), or 0 for never.  The search with sound
	 * semantics stops earlier. */
	int64_t deadline_ns;
	/* Maps each pair of sites with a known race (predict_pair_key()) to the classes of the
	 * race.  Prediction adds the races that it finds.  If NULL, only races of this execution
	 * are known. */
	struct rd_umap *pairs;
	const struct rd_umap *wanted; /* pairs of sites to look for; NULL for all pairs */
};

/* A schedule that leads to the error.  Threads with a target stop before the target.  Other threads
 * run up to and including the event `done`. */
struct predict_witness {
	uint32_t *done;	 /* the last event of each thread, or EXEC_NONE if it does nothing */
	uint32_t *order; /* the events whose order matters; NULL for the recorded order */
	size_t length;
};

struct predict_race {
	uint32_t first, second; /* events; `first` is earlier in the recorded order */
	enum predict_class class;
	enum predict_tier tier;
	struct predict_witness witness;
};

struct predict_deadlock {
	uint32_t *stops; /* the events at which the threads are blocked */
	uint32_t count;
	enum predict_class class;
	enum predict_tier tier;
	struct predict_witness witness;
};

struct predict_stats {	     /* one for each class: sound and speculative */
	uint64_t candidates; /* number of pairs that must-order and locks allow */
	uint64_t searches;
	uint64_t unknown; /* number of questions whose budget ran out */
};

struct predict_result {
	struct predict_race *races; /* at most one for each pair of sites and class */
	size_t race_count, race_capacity;
	struct predict_deadlock *deadlocks;
	size_t deadlock_count, deadlock_capacity;
	struct predict_stats stats[2];
	uint64_t kept; /* number of events in the reduced execution */
	/* The number of pieces into which the execution was cut, or 0 if it was not cut. */
	uint32_t pieces;
	bool late;   /* the deadline passed before everything was decided */
	bool looked; /* each pair of threads was checked in recorded order before the deadline */
	/* With count_events, a bit mask for each event.  The bit 1 << class is set if the event is
	 * the second access of a race of that class. */
	uint8_t *racy;
};

/* Prediction in steps.  Each step examines one window of the execution under one semantics.  It
 * looks for deadlocks, or for races with a given effort (race-int.h), and adds its results to
 * `out`.  Between two steps, the caller may remove the results (predict_result_clear()).  The
 * execution, and everything that the options point to, must not change until predict_close() is
 * called. predict_close() accepts NULL. */
struct predict_steps;
int predict_open(struct predict_steps **steps, const struct exec *x, const struct predict_opts *o,
		 struct predict_result *out);
bool predict_next(struct predict_steps *steps); /* returns false if the prediction is finished */
void predict_close(struct predict_steps *steps);

/* Moves the deadline by `ns`, which is the time that the caller spent on something else. */
void predict_extend_deadline(struct predict_steps *steps, int64_t ns);

/* Does all steps.  The caller releases `out` with predict_result_release(), even after a
 * failure. */
int predict_run(const struct exec *x, const struct predict_opts *o, struct predict_result *out);
void predict_result_release(struct predict_result *r);

/* Removes only the races and deadlocks, not the statistics. */
void predict_result_clear(struct predict_result *r);

#endif
