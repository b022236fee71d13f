/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an error spread: which places in the program it reached, in which order, and from where.
 *
 * A node represents all deviating records of one thread, site and kind.  An edge means that the
 * error spread from one node to another (doc/format/compare.md).  Wrong memory is tracked byte by
 * byte.  Registers are not in a trace.  So a deviation without a cause in memory is attributed to
 * the previous deviation in its scope, or in the enclosing scopes.
 */
#ifndef EPA_PROPAGATE_H
#define EPA_PROPAGATE_H

#include "epa/align.h"

enum epa_deviation_kind {
	EPA_SAME,    /* no deviation */
	EPA_DATA,    /* another value */
	EPA_ADDRESS, /* another place in memory */
	EPA_CONTROL, /* another instruction */
	EPA_MISSING, /* the run does not have the record or thread */
	EPA_EXTRA,   /* the run has an additional record or thread */
	EPA_DEVIATIONS,
};
const char *epa_deviation_name(enum epa_deviation_kind kind); /* none data address control missing extra */

/* How two records differ, and in which slot. */
enum epa_deviation_kind epa_classify(const struct epa_record *golden, const struct epa_record *run,
				     unsigned *slot);

struct epa_node {
	uint32_t thread; /* number of its name */
	uint32_t site;
	uint8_t kind;	   /* enum epa_deviation_kind */
	uint8_t operation; /* enum trace_full_kind; of a control node: of the record before */
	bool has_golden, has_run;
	unsigned slot;	 /* what differs */
	uint64_t number; /* of the first record, in its thread's golden ones */
	uint64_t count;
	struct epa_record golden, run; /* the first ones */
};

enum epa_through { EPA_MEMORY, EPA_REGISTER, EPA_CALL, EPA_RETURN, EPA_BRANCH, EPA_CREATION, EPA_THROUGHS };
const char *epa_through_name(enum epa_through through); /* memory register call return control thread */

struct epa_edge {
	uint32_t from, to; /* nodes */
	uint8_t through;   /* enum epa_through */
	bool first;	   /* the node `to` was first reached this way */
	bool has_object;
	struct epa_name object; /* memory */
	uint64_t count;
};

/* Where wrong memory became right, or was released. */
struct epa_mask {
	uint32_t node; /* that had stored it */
	bool freed;
	uint32_t thread, site; /* that first overwrote it */
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
	uint64_t corrupted; /* words of memory that are wrong at the end */
};
void epa_propagation_release(struct epa_propagation *p);

/* Counts of a thread. */
struct epa_thread_counts {
	uint64_t counts[EPA_DEVIATIONS];
	uint64_t first; /* number of its first deviating record; UINT64_MAX: no deviation */
};

struct epa_propagator;
struct epa_propagator *epa_propagator_new(struct epa_objects *objects, struct epa_propagation *out,
					  size_t threads);
void epa_propagator_free(struct epa_propagator *p); /* NULL is fine */

/* The last record of a thread before the deviation; to be called before its first aligned record.
 */
void epa_propagator_begin(struct epa_propagator *p, const struct epa_record *last);

/* For the aligners of all threads. */
struct epa_align_sink epa_propagator_sink(struct epa_propagator *p);

/* Moves the state of a block's memory, wrong or not, to its new place. */
void epa_propagator_move(struct epa_propagator *p, const struct epa_move *move);

/* The process ended or died: running threads stop now. */
void epa_propagator_stop(struct epa_propagator *p);

/* To be called after the last record. */
void epa_propagator_finish(struct epa_propagator *p);

/* For a thread that the run does not have: its golden records, from the first to the last. */
void epa_propagator_lost_thread(struct epa_propagator *p, uint32_t thread, const struct epa_record *first);
void epa_propagator_lost_record(struct epa_propagator *p, const struct epa_record *r);

/* Returns the next creation of a thread that only the golden run has: the creator's index among the
 * threads, and the thread's number among those of its creator.  Returns false after the last one.
 * The caller then reports the thread's golden records as lost, before other threads deviate because
 * of them. */
bool epa_propagator_missing(struct epa_propagator *p, size_t *place, uint64_t *index);

const struct epa_thread_counts *epa_propagator_counts(const struct epa_propagator *p, size_t place);

#endif
