/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines how an error spread: which places in the program it reached, in which order, and from
 * where.
 *
 * A node represents all deviating records of one thread, site and kind.  An edge means that the
 * error spread from one node to another (doc/format/compare.md).  Wrong memory is tracked byte by
 * byte.  Registers are not in a trace.  So if memory does not explain a deviation, it is
 * attributed to the previous deviation in the same function call, or in one of its callers.
 */
#ifndef EPA_PROPAGATE_H
#define EPA_PROPAGATE_H

#include "epa/align.h"

enum epa_deviation_kind {
	EPA_SAME,    /* no deviation */
	EPA_DATA,    /* the value differs */
	EPA_ADDRESS, /* the place in memory differs */
	EPA_CONTROL, /* the instruction differs */
	EPA_MISSING, /* the run does not have the record or thread */
	EPA_EXTRA,   /* the run has an additional record or thread */
	EPA_DEVIATIONS,
};
/* Returns "none", "data", "address", "control", "missing" or "extra". */
const char *epa_deviation_name(enum epa_deviation_kind kind);

/* Classifies how two records differ.  Stores in *slot the number of the first slot that differs. */
enum epa_deviation_kind epa_classify(const struct epa_record *golden, const struct epa_record *run,
				     unsigned *slot);

struct epa_node {
	uint32_t thread; /* number of the thread's name */
	uint32_t site;
	uint8_t kind; /* enum epa_deviation_kind */
	/* The kind of the record, from enum trace_full_kind.  For a control node, this is the kind
	 * of the record before it. */
	uint8_t operation;
	bool has_golden, has_run;
	unsigned slot; /* the slot that differs */
	/* The number of the first deviating record among the thread's golden records. */
	uint64_t number;
	uint64_t count;
	struct epa_record golden, run; /* the first pair of deviating records */
};

enum epa_through { EPA_MEMORY, EPA_REGISTER, EPA_CALL, EPA_RETURN, EPA_BRANCH, EPA_CREATION, EPA_THROUGHS };
/* Returns "memory", "register", "call", "return", "control" or "thread". */
const char *epa_through_name(enum epa_through through);

struct epa_edge {
	uint32_t from, to; /* indices of nodes */
	uint8_t through;   /* enum epa_through */
	bool first;	   /* true if the error first reached the node `to` this way */
	bool has_object;
	struct epa_name object; /* for EPA_MEMORY: the memory through which the error spread */
	uint64_t count;
};

/* A place where wrong memory became right again or was released. */
struct epa_mask {
	uint32_t node; /* the node that had stored the wrong value */
	bool freed;
	uint32_t thread, site; /* the thread and site that first overwrote the memory */
	struct epa_name object;
	uint64_t count;
};

struct epa_propagation {
	struct epa_node *nodes; /* in the order in which they were reached */
	struct epa_edge *edges;
	struct epa_mask *masks;
	size_t node_count, edge_count, mask_count;
	size_t node_capacity, edge_capacity, mask_capacity;
	uint64_t counts[EPA_DEVIATIONS];
	uint64_t corrupted; /* number of words of memory that are wrong at the end */
};
void epa_propagation_release(struct epa_propagation *p);

/* The deviations of a thread, counted by kind. */
struct epa_thread_counts {
	uint64_t counts[EPA_DEVIATIONS];
	/* The number of the thread's first deviating record, or UINT64_MAX if there is no
	 * deviation. */
	uint64_t first;
};

struct epa_propagator;
struct epa_propagator *epa_propagator_new(struct epa_objects *objects, struct epa_propagation *out,
					  size_t threads);
void epa_propagator_free(struct epa_propagator *p); /* `p` may be NULL */

/* Sets the state of a thread from `last`, which is its last record before the run's first
 * deviation.  Call this once for each thread, before its records are aligned. */
void epa_propagator_begin(struct epa_propagator *p, const struct epa_record *last);

/* Returns the callbacks for the aligners of all threads. */
struct epa_align_sink epa_propagator_sink(struct epa_propagator *p);

/* Moves the information about which bytes of a block are wrong to the block's new place. */
void epa_propagator_move(struct epa_propagator *p, const struct epa_move *move);

/* Call this when the process ends or dies, because all running threads stop then. */
void epa_propagator_stop(struct epa_propagator *p);

/* Call this after the last record. */
void epa_propagator_finish(struct epa_propagator *p);

/* These two functions handle a thread that only the golden run has.  First call
 * epa_propagator_lost_thread() with the thread's first golden record.  Then call
 * epa_propagator_lost_record() with each of its golden records, in order. */
void epa_propagator_lost_thread(struct epa_propagator *p, uint32_t thread, const struct epa_record *first);
void epa_propagator_lost_record(struct epa_propagator *p, const struct epa_record *r);

/* Finds the next creation of a thread that only the golden run has.  Returns false if there are no
 * more.  Stores the creator's index among the threads in *place, and in *index the number of the
 * new thread among its creator's threads.  The caller must then report the thread's golden records
 * as lost, before their absence makes other threads deviate. */
bool epa_propagator_missing(struct epa_propagator *p, size_t *place, uint64_t *index);

const struct epa_thread_counts *epa_propagator_counts(const struct epa_propagator *p, size_t place);

#endif
