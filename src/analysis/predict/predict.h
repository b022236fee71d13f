/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prediction: from one execution, the races and deadlocks of its reorderings.
 *
 * Two models.  Sound: every thread does a prefix of what it did, every read
 * before the error reads the write it read; what is found can happen.
 * Speculative (the one of Carril and Tichy): reads may change their value, so
 * control flow may too; what is found has to be tried.
 *
 * Within a model the answer is exact for the recorded events unless counted as
 * unknown: a pair is reported if and only if a schedule exists.
 */
#ifndef PREDICT_PREDICT_H
#define PREDICT_PREDICT_H

#include "base/map.h"
#include "order/exec.h"

enum predict_class { PREDICT_SOUND, PREDICT_SPECULATIVE };

/* How the search ended: in recorded order, or by exact search. */
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
	bool count_events;	  /* decide for every access whether it is the second of a race */
	uint32_t begin;		  /* what comes before that event has happened, as recorded */
	uint32_t window;	  /* cut the execution into pieces of that many events; 0: do not, */
	uint64_t memory; /* unless clocks of very many threads would take more than so many bytes; 0: any */
	uint32_t max_tries;    /* pairs tried for one event and thread; 0: 64; UINT32_MAX: all */
	uint32_t max_cycle;    /* threads in a deadlock; 0: any number */
	int64_t total_work;    /* budget of all questions of one phase; 0: 1 billion steps, or none with
				  count_events */
	int64_t work;	       /* budget of one question; 0: 50 million steps */
	int64_t deadline_ns;   /* when to stop (base/clock.h), the sound model earlier; 0: never */
	struct rd_umap *pairs; /* of sites (predict_pair_key()) that have a race already, in each class; NULL:
				  none, and only this execution is meant */
	const struct rd_umap *wanted; /* pairs of sites: races of others are not looked for; NULL: of all */
};

/* The way to the error.  Threads not named in a target run up to and including
 * `done`, the threads of targets up to their target. */
struct predict_witness {
	uint32_t *done;	 /* per thread: the last event it does, EXEC_NONE: none */
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
	uint32_t pieces; /* that the execution was cut into; 0: it was not */
	bool late;	 /* the deadline came before everything was decided */
	bool looked;	 /* it did not come before each pair of threads was looked at in recorded order */
	uint8_t *racy;	 /* by event, with count_events: 1 << class if it is the second access of a race */
};

/* A prediction in steps: each decides one tier of one model for one window, and adds what it found to the
 * result.  The caller may take that away in between (predict_result_clear()).  The execution and what the
 * options point to stay as they are until predict_close(), which takes NULL too. */
struct predict_steps;
int predict_open(struct predict_steps **steps, const struct exec *x, const struct predict_opts *o,
		 struct predict_result *out);
bool predict_next(struct predict_steps *steps); /* false: nothing is left to do */
void predict_close(struct predict_steps *steps);

/* Puts the deadline off by the time that the caller took for something else. */
void predict_put_off(struct predict_steps *steps, int64_t ns);

/* All steps.  `out` is released with predict_result_release(), also after a failure. */
int predict_run(const struct exec *x, const struct predict_opts *o, struct predict_result *out);
void predict_result_release(struct predict_result *r);

/* Only the races and deadlocks. */
void predict_result_clear(struct predict_result *r);

/* ---- checking, without any of the above ---- */

/* Runs the witness on a machine that knows the primitives only.  Returns NULL if
 * it leads to the error the targets describe, else what is wrong. */
const char *predict_validate(const struct exec *x, bool sound, const uint32_t *targets, uint32_t count,
			     const struct predict_witness *w);

#endif
