/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what an instruction depends on:
 *
 * - its operands, and the writes to the memory that it reads
 * - the results of functions that it calls, and the arguments passed to its own function
 * - the branches that decide whether it is executed
 * - the calls and thread starts that lead to its function
 *
 * A write matches a read if both use the same name, that is, if both addresses are the same path
 * from the same variable, argument or other value (candidates/path.h), and if the bytes overlap.
 * There is no alias analysis, so writes through other pointers are not found. doc/design/sketch.md
 * explains why.
 */
#ifndef SLICE_DEPEND_H
#define SLICE_DEPEND_H

#include "base/map.h"
#include "slice/tflow.h"

/* A write of memory by an instruction. */
struct depend_write {
	uint32_t value, operand; /* `operand` is the address */
	int64_t size;		 /* number of bytes; 0 if unknown */
	/* The index of the next write with the same name, or FACTS_NONE if there is none. */
	uint32_t next;
};

struct depend {
	const struct facts *f;
	struct tflow flow;
	uint32_t *block_of; /* the block of each value of `f`; FACTS_NONE for an argument */
	/* The rows of the call graph, sorted by callee.  The callers of a function begin at index
	 * callers_of[function]. */
	uint32_t *callers;
	uint32_t *callers_of;
	struct depend_write *writes;
	size_t write_count, write_capacity;
	struct rd_umap names; /* maps the hash of a path to the first write with that name */
	/* The following members store, for each block, the branches that decide whether it is
	 * executed.  They are computed for one function at a time. */
	/* For each function, true if its decisions have been computed. */
	uint8_t *decided;
	struct facts_edge *decisions; /* `from` is the block, `to` the value of the branch */
	size_t decision_count, decision_capacity;
	/* The index of each block's first decision, or FACTS_NONE if it has none. */
	uint32_t *first_decision;
	uint32_t *decision_end;
};

void depend_init(struct depend *d, const struct facts *f);
void depend_release(struct depend *d);

typedef void depend_fn(uint32_t on, void *context);
/* Calls `fn` for each instruction or argument that `value` depends on.  `whole` is true if the
 * slice begins at `value`.  Such a value depends on all its operands and arguments. */
void depend_each(struct depend *d, uint32_t value, bool whole, depend_fn *fn, void *context);

/* Reports the branches that decide whether `value` is executed.  If no branch of its function does,
 * reports the calls of the function. */
void depend_control(struct depend *d, uint32_t value, depend_fn *fn, void *context);

/* Reports the calls of a function, and the starts of threads that run it. */
void depend_callers(struct depend *d, uint32_t function, depend_fn *fn, void *context);

/* Returns true if the call starts a thread, or registers a function that runs later. */
bool depend_starts_thread(const struct depend *d, uint32_t call);

/* Reports the values that callers pass for an argument. */
void depend_given(struct depend *d, uint32_t argument, depend_fn *fn, void *context);

#endif
