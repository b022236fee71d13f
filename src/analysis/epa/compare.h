/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares a run with the golden run, thread by thread.
 *
 * 	struct epa_reference *ref;     epa_reference_open(&ref, golden)    (epa/reference.h)
 * 	struct epa_comparison c;       epa_compare(ref, run, NULL, &c)
 * 	epa_comparison_release(&c);
 *
 * The run is walked once.  Memory use depends on how many objects are alive at the same time, not
 * on the length or number of runs.  Both runs must be of the same program, with the same site
 * table.
 */
#ifndef EPA_COMPARE_H
#define EPA_COMPARE_H

#include "epa/propagate.h"

#define EPA_STACK_MAX 32 /* largest number of call sites that are kept; set by hand */

/* The place at which a thread's records differ from its golden records. */
struct epa_deviation {
	enum epa_deviation_kind kind;
	char *thread;	 /* name of the thread, such as T_0_1 */
	uint64_t number; /* number of the record among the thread's canonical records, from 0 */
	bool has_golden, has_run;
	struct epa_record golden, run; /* the two records, without `depth` and `place` */
	unsigned slot;		       /* for kinds data and address: the first slot that differs */
	uint32_t stack[EPA_STACK_MAX]; /* call sites of the enclosing scopes, innermost first */
	/* The number of enclosing scopes.  `stack` holds at most EPA_STACK_MAX of them. */
	size_t depth;
	/* The site of the last record that both runs have in common before the deviation, or 0 if
	 * there is none. */
	uint32_t previous_site;
};

struct epa_compare_options {
	bool propagation; /* continue after the first deviation */
	bool slow;	  /* unpack every record, to check the fast path */

	/* The name of the thread into which the fault was injected, or NULL if it is unknown.  If
	 * another thread deviates before the walk reaches the fault, the deviation and the fault
	 * are unordered.  Then the deviation of the faulty thread is reported as the first. */
	const char *faulty_thread;

	/* Returns true if a deviation should be ignored.  May be NULL.  This function is called
	 * only for deviations of the kind "data" and for calls that a fault prevented, and only if
	 * `propagation` is false.  It is called for the first such deviation and, as long as it
	 * returns true, for the next one. */
	bool (*ignore)(void *context, const struct epa_deviation *deviation);
	void *context;
};

/* A thread that at least one of the two runs has.  Threads are listed only with
 * options.propagation. */
struct epa_compared_thread {
	uint32_t name;	      /* number of its name in epa_comparison.names */
	uint64_t golden, run; /* number of canonical records in each run */
	struct epa_thread_counts counts;
};

struct epa_comparison {
	bool deviated;
	/* The error that ended a stream of the run early, or 0. */
	int damage;
	struct epa_deviation first; /* the first deviation in the order of the run */
	uint64_t records;	    /* number of canonical records of the run that were compared */
	struct epa_names
		/* The names of the reference, and further names of the run.  Pass this to
		 * epa_name_text(). */
		names;
	/* The following members are set with options.propagation, if the run deviated. */
	struct epa_propagation propagation;
	struct epa_compared_thread *threads;
	size_t thread_count;
	struct epa_fault faults[EPA_FAULTS]; /* the injected faults, which caused the error */
	size_t fault_count;
};

/* Returns the index of the fault that directly caused the error at a node.  Returns SIZE_MAX if
 * the error spread from another node, or has another cause. */
size_t epa_node_fault(const struct epa_comparison *c, size_t node);

/* Compares `run` with the reference.  `options` may be NULL. */
int epa_compare(const struct epa_reference *reference, struct epa_source *run,
		const struct epa_compare_options *options, struct epa_comparison *comparison);
void epa_comparison_release(struct epa_comparison *comparison);

/* Returns the site of the run's deviating record or, if there is none, that of the golden
 * record. */
uint32_t epa_deviation_site(const struct epa_deviation *deviation);

/* Returns the site of a deviation.  If it lies in a library's header, returns the innermost
 * enclosing call in the program's own code instead. */
uint32_t epa_deviation_own_site(const struct epa_deviation *deviation, const struct trace_sites *sites);

#endif
