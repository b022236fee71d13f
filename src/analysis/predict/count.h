/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the races and deadlocks of a trace as the literature on prediction does.
 */
#ifndef PREDICT_COUNT_H
#define PREDICT_COUNT_H

#include <stdbool.h>
#include <stdint.h>

struct predict_trace;

/* Each of these semantics allows everything that the one before it allows. */
enum predict_count_semantics {
	PREDICT_COUNT_SYNC_PRESERVING, /* sound, and critical sections of a lock keep their recorded order */
	PREDICT_COUNT_SOUND,
	PREDICT_COUNT_SPECULATIVE,
	PREDICT_COUNT_SEMANTICS
};

struct predict_count {
	/* The number of accesses that are the second access, in recorded order, of some race. */
	uint64_t events;
	uint64_t locations; /* number of source lines with an access that is counted in `events` */
	uint64_t variables;
	uint64_t pairs; /* number of pairs of lines that race; counted only on request */
	uint64_t deadlocks;
	uint64_t unknown;		    /* number of questions whose budget ran out */
	double event_seconds, pair_seconds; /* CPU time */
};

struct predict_count_opts {
	bool no_races, no_deadlocks;
	bool pairs;	 /* also count pairs of lines, which takes longer */
	uint32_t window; /* as in predict_opts */
};

const char *predict_count_name(enum predict_count_semantics semantics);

int predict_count(const struct predict_trace *t, enum predict_count_semantics semantics,
		  const struct predict_count_opts *o, struct predict_count *out);

#endif
