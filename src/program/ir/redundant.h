/* SPDX-License-Identifier: Apache-2.0 */
/* A dataflow over a flow graph that finds accesses that add nothing new. */
#ifndef IR_REDUNDANT_H
#define IR_REDUNDANT_H

#include "facts/graph.h"

/*
 * A step is an action of a block: it reads or writes the bytes of a key, or it forgets everything.
 * A read is redundant if, on every path from the entry, its bytes were read or written since the
 * last FORGET.  A write is redundant if they were written.
 */
enum ir_step_kind { IR_STEP_READ, IR_STEP_WRITE, IR_STEP_FORGET };

struct ir_step {
	uint32_t block; /* steps are sorted by block and in program order within it */
	uint32_t key;	/* not for FORGET */
	enum ir_step_kind kind;
};

/* The bytes of a key: keys of one base may contain one another. */
struct ir_key {
	uint32_t base;
	int64_t offset;
	uint64_t size;
};

struct ir_steps {
	const struct ir_step *items;
	size_t count;
	const struct ir_key *keys; /* must be distinct */
	uint32_t key_count;
};

/* redundant[i] is set for each step that is; steps in unreachable blocks are not. */
void ir_redundant(const struct facts_graph *g, const struct ir_steps *steps, bool *redundant);

#endif
