/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an instruction depends on: its operands, the writes of what it reads, the results of called
 * functions, the arguments passed to its own function, the branches that decide whether it is
 * executed, and the calls and thread starts that lead to its function.
 *
 * Writes are found by name: both addresses are the same path from the same variable, argument or
 * other value (candidates/path.h), and the bytes overlap.  There is no alias analysis, so writes
 * through other pointers are not found; doc/design/sketch.md explains why.
 */
#ifndef SLICE_DEPEND_H
#define SLICE_DEPEND_H

#include "base/map.h"
#include "slice/tflow.h"

/* A write of memory by an instruction. */
struct depend_write {
	uint32_t value, operand; /* operand: the address */
	int64_t size;		 /* bytes, 0: unknown */
	uint32_t next;		 /* of those with the same name; FACTS_NONE: none */
};

struct depend {
	const struct facts *f;
	struct tflow flow;
	uint32_t *block_of; /* by value; FACTS_NONE: an argument */
	uint32_t *callers;  /* rows of the call graph by function, and where each function's start */
	uint32_t *callers_of;
	struct depend_write *writes;
	size_t write_count, write_capacity;
	struct rd_umap names; /* hash of a path to the first write of that name */
	/* Branches by the block that they decide about, worked out for one function at a time. */
	uint8_t *decided;	      /* by function: it was looked at */
	struct facts_edge *decisions; /* from: the block, to: the branch's value */
	size_t decision_count, decision_capacity;
	uint32_t *first_decision; /* by block; FACTS_NONE: none */
	uint32_t *decision_end;
};

void depend_init(struct depend *d, const struct facts *f);
void depend_release(struct depend *d);

/* Calls `fn` for each instruction or argument that `value` depends on; `whole`: the slice begins at
 * it, so it depends on all its operands and arguments. */
typedef void depend_fn(uint32_t on, void *context);
void depend_each(struct depend *d, uint32_t value, bool whole, depend_fn *fn, void *context);

/* The branches that decide whether `value` is executed.  If no branch of its function does, the
 * calls of the function. */
void depend_control(struct depend *d, uint32_t value, depend_fn *fn, void *context);

/* The calls of a function, and the starts of threads that run it. */
void depend_callers(struct depend *d, uint32_t function, depend_fn *fn, void *context);

/* Whether the call starts a thread, or registers a function that runs later. */
bool depend_starts_thread(const struct depend *d, uint32_t call);

/* What callers pass for an argument. */
void depend_given(struct depend *d, uint32_t argument, depend_fn *fn, void *context);

#endif
