/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a run pseudo-deterministic?  That is: does every dependent pair of its events happen in the
 * same order in every schedule (doc/design/reversible.md), and does every event depend only on
 * earlier events?  If so, two runs of the program can be compared record by record.
 *
 * 	rev_check(&result, source, &options)
 * 	...
 * 	rev_result_free(result)
 */
#ifndef REVERSIBLE_REVERSIBLE_H
#define REVERSIBLE_REVERSIBLE_H

#include "reversible/decide.h"
#include "reversible/source.h"
#include "epa/walk.h"

struct rev_options {
	unsigned solver_ms; /* for each question to the solver; 0: the solver is not used */
	size_t limit;	    /* how many reversals to look for; 0: one */
	bool objects;	    /* count the conflicts of each object */
	bool log;	    /* keep the steps of the derivation, for a certificate */
};

/* One of the two events. */
struct rev_side {
	const char *thread; /* T_0_1 */
	const char *what;   /* "write", "atomic write", "mutex-trylock" */
	uint32_t site;	    /* 0: unknown */
	uint64_t size;	    /* bytes; 0: an operation */
	uint8_t access;	    /* enum rev_access */
	uint32_t n;	    /* operations of the thread before it */
	uint32_t instance;  /* its number among the site's accesses of different memory since then, from 1 */
	size_t frame_count; /* of the call stack, without the site itself: call sites, innermost first */
	uint32_t *frames;
	bool reads, changes; /* its segment reads the byte; and writes it after that */
};

struct rev_reversal {
	struct rev_pair pair;
	struct rev_side side[2];   /* in the order of the run */
	struct rev_witness order;  /* the beginning of a run in which the second comes first */
	struct rev_witness replay; /* the same with what a replay needs; empty: a replay cannot reach it */
	bool meet;		   /* at the end of `replay` both threads are stopped at their accesses */
	bool by_solver;
	char *object; /* canonical name */
};

/* An object with dependent accesses of two threads. */
struct rev_shared {
	char *name;
	uint64_t conflicts; /* adjacent dependent accesses */
	uint64_t open;	    /* of these, not ordered by clocks */
};

struct rev_result {
	enum rev_verdict verdict;
	const char *reason; /* of REV_OPEN */
	uint64_t records, accesses;
	size_t threads, operations;
	uint64_t odd; /* operations that contradict their primitive */
	int damaged;  /* the error of a damaged stream, which was read as far as possible */
	bool partial; /* the trace does not reach the end of the run, so the verdict is never yes */
	struct rev_counts counts;
	uint64_t rules[REV_RULES];
	struct rev_pair
		*proved; /* pairs that the solver proved to be in order: counts.solver_never of them */
	struct rev_reversal *reversals;
	size_t reversal_count;
	struct rev_source *sources;
	size_t source_count;
	struct rev_shared *shared;
	size_t shared_count, shared_capacity;
	struct rev_run run;
	char **names; /* of threads, by index of the run */
	struct rd_arena *arena;
};

int rev_check(struct rev_result **result, struct epa_source *source, const struct rev_options *options);
void rev_result_free(struct rev_result *result);

#endif
