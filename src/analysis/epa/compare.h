/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparing a run with the golden run, thread by thread.
 *
 *	struct epa_reference *ref;     epa_reference_open(&ref, golden)    (epa/reference.h)
 *	struct epa_comparison c;       epa_compare(ref, run, NULL, &c)
 *	epa_comparison_release(&c);
 *
 * The run is walked once.  Memory grows with what is alive in the run at once, not with the length or number
 * of runs.  Both must be runs of the same program: the same site table.
 */
#ifndef EPA_COMPARE_H
#define EPA_COMPARE_H

#include "epa/propagate.h"

#define EPA_STACK_MAX 32

/* Where two threads part. */
struct epa_deviation {
	enum epa_deviation_kind kind;
	char *thread;	 /* T_0_1 */
	uint64_t number; /* of the thread's canonical records, from 0 */
	bool has_golden, has_run;
	struct epa_record golden, run; /* without depth and place */
	unsigned slot;		       /* the first one that differs; data and address */
	uint32_t stack[EPA_STACK_MAX]; /* call sites around it, innermost first */
	size_t depth;		       /* how many there were */
	uint32_t behind;	       /* site of the last record that both have; 0: none */
};

struct epa_compare_options {
	bool propagation; /* go on behind the first deviation */
	bool slow;	  /* make every record, to check that the quick way comes to the same */

	/* The name of the thread that a fault was put into; NULL: not known.  Where another thread deviates
	 * before the walk comes to the fault, nothing orders the two, and the fault's is the first. */
	const char *struck;

	/* Whether a deviation of kind data, or a call that a fault prevented, is none: asked for the first
	 * one, and for the next if that is pardoned, and so on.  Not with propagation.  May be NULL. */
	bool (*pardon)(void *context, const struct epa_deviation *deviation);
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
	int damage;		    /* 0, or what kept a stream of the run from being read to its end */
	struct epa_deviation first; /* the first in the order of the run */
	uint64_t records;	    /* canonical records of the run that were looked at */
	struct epa_names names; /* for epa_name_text(); those of the reference and those the run has more */
	/* With options.propagation, and if it deviated: */
	struct epa_propagation propagation;
	struct epa_compared_thread *threads;
	size_t thread_count;
	struct epa_fault faults[EPA_FAULTS]; /* that were injected: the error came from them */
	size_t fault_count;
};

/* Which fault of the run the error at a node comes from directly; SIZE_MAX: it came from another node, or
 * from elsewhere. */
size_t epa_node_fault(const struct epa_comparison *c, size_t node);

/* options may be NULL. */
int epa_compare(const struct epa_reference *reference, struct epa_source *run,
		const struct epa_compare_options *options, struct epa_comparison *comparison);
void epa_comparison_release(struct epa_comparison *comparison);

/* The site of a deviation: that of the run's record, or of the golden one. */
uint32_t epa_deviation_site(const struct epa_deviation *deviation);

/* The site itself, or, if it is in a library's header, the innermost call around it that is not. */
uint32_t epa_deviation_own_site(const struct epa_deviation *deviation, const struct trace_sites *sites);

#endif
