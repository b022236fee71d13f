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

#define EPA_STACK_MAX 32 /* call sites that are kept; set by hand */

/* Where two threads differ. */
struct epa_deviation {
	enum epa_deviation_kind kind;
	char *thread;	 /* T_0_1 */
	uint64_t number; /* of the thread's canonical records, from 0 */
	bool has_golden, has_run;
	struct epa_record golden, run; /* without depth and place */
	unsigned slot;		       /* the first one that differs; data and address */
	uint32_t stack[EPA_STACK_MAX]; /* call sites around it, innermost first */
	size_t depth;		       /* how many there were */
	uint32_t previous_site;	       /* site of the last record that both have; 0: no record */
};

struct epa_compare_options {
	bool propagation; /* continue after the first deviation */
	bool slow;	  /* unpack every record, to check the fast path */

	/* The name of the thread with the fault; NULL: unknown.  If another thread deviates before
	 * the walk reaches the fault, the two are unordered, and the deviation of the faulty
	 * thread is reported as the first. */
	const char *faulty_thread;

	/* Decides whether to ignore a deviation of kind data, or a call that a fault prevented.
	 * Called for the first deviation and, as long as it returns true, for each following one.
	 * Not called with propagation.  May be NULL. */
	bool (*ignore)(void *context, const struct epa_deviation *deviation);
	void *context;
};

/* With options.propagation: a thread of either run. */
struct epa_compared_thread {
	uint32_t name;	      /* of epa_comparison.names */
	uint64_t golden, run; /* canonical records */
	struct epa_thread_counts counts;
};

struct epa_comparison {
	bool deviated;
	int damage;		    /* 0, or the error that ended a stream of the run early */
	struct epa_deviation first; /* the first in the order of the run */
	uint64_t records;	    /* canonical records of the run that were compared */
	struct epa_names
		names; /* for epa_name_text(); those of the reference and additional ones of the run */
	/* With options.propagation, and if it deviated: */
	struct epa_propagation propagation;
	struct epa_compared_thread *threads;
	size_t thread_count;
	struct epa_fault faults[EPA_FAULTS]; /* the injected faults, which caused the error */
	size_t fault_count;
};

/* Which fault of the run directly caused the error at a node; SIZE_MAX: it came from another node,
 * or from elsewhere. */
size_t epa_node_fault(const struct epa_comparison *c, size_t node);

/* options may be NULL. */
int epa_compare(const struct epa_reference *reference, struct epa_source *run,
		const struct epa_compare_options *options, struct epa_comparison *comparison);
void epa_comparison_release(struct epa_comparison *comparison);

/* The site of a deviation: that of the run's record, or of the golden one. */
uint32_t epa_deviation_site(const struct epa_deviation *deviation);

/* The site itself or, if it is in a library's header, the innermost call around it that is not. */
uint32_t epa_deviation_own_site(const struct epa_deviation *deviation, const struct trace_sites *sites);

#endif
