/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether a run is pseudo-deterministic.  This means that every pair of dependent events
 * happens in the same order in every schedule (doc/design/reversible.md), and that every event
 * depends only on earlier events.  If so, two runs of the program can be compared record by record.
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
	/* The time limit for each question to the solver, or 0 if the solver is not used. */
	unsigned solver_ms;
	size_t limit; /* number of reversals to look for; 0 means one */
	bool objects; /* count the conflicts of each object */
	bool log;     /* keep the steps of the derivation, for a certificate */
};

/* One of the two events of a reversal. */
struct rev_side {
	const char *thread; /* name of the thread, such as T_0_1 */
	const char *what;   /* such as "write", "atomic write", "mutex-trylock" */
	uint32_t site;	    /* 0 if unknown */
	uint64_t size;	    /* bytes of the access; 0 for an operation */
	uint8_t access;	    /* enum rev_access */
	uint32_t n;	    /* number of operations that the thread did before this event */
	/* How many different addresses the site has accessed since the thread's last operation, up
	 * to and including this one. */
	uint32_t instance;
	/* The call sites of the call stack, innermost first, without the site itself. */
	size_t frame_count;
	uint32_t *frames;
	/* `reads` is true if the segment reads the byte, and `changes` if it writes the byte after
	 * reading it. */
	bool reads, changes;
};

struct rev_reversal {
	struct rev_pair pair;
	struct rev_side side[2]; /* the two events, in the order of the run */
	/* The beginning of a run in which the second event comes first. */
	struct rev_witness order;
	/* Like `order`, but for a run that a replay can reach.  The list is empty if there is no
	 * such run. */
	struct rev_witness replay;
	bool meet; /* at the end of `replay` both threads are stopped at their accesses */
	bool by_solver;
	char *object; /* canonical name of the object that both events touch */
};

/* An object to which two threads made dependent accesses. */
struct rev_shared {
	char *name;
	uint64_t conflicts; /* number of adjacent dependent accesses */
	uint64_t open;	    /* how many of `conflicts` the clocks do not order */
};

struct rev_result {
	enum rev_verdict verdict;
	const char *reason; /* the reason, if the verdict is REV_OPEN */
	uint64_t records, accesses;
	size_t threads, operations;
	uint64_t odd; /* the number of operations that contradict the rules of their primitive */
	/* The error of a damaged stream, or 0.  Such a stream is read as far as possible. */
	int damaged;
	/* True if the trace does not reach the end of the run.  Then the verdict is never "yes". */
	bool partial;
	struct rev_counts counts;
	uint64_t rules[REV_RULES];
	/* The pairs that the solver proved to have a fixed order.  There are counts.solver_never of
	 * them. */
	struct rev_pair *proved;
	struct rev_reversal *reversals;
	size_t reversal_count;
	struct rev_source *sources;
	size_t source_count;
	struct rev_shared *shared;
	size_t shared_count, shared_capacity;
	struct rev_run run;
	char **names; /* names of the threads, by index in the run */
	struct rd_arena *arena;
};

int rev_check(struct rev_result **result, struct epa_source *source, const struct rev_options *options);
void rev_result_free(struct rev_result *result);

#endif
