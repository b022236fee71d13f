/* SPDX-License-Identifier: Apache-2.0 */
/* A dataflow analysis over a flow graph, which finds redundant accesses. */
#ifndef IR_REDUNDANT_H
#define IR_REDUNDANT_H

#include "facts/graph.h"

/*
 * A step is one action of a basic block.  It reads the bytes of a key, writes them, or forgets all
 * bytes.  A read is redundant if, on every path from the entry, its bytes were read or written
 * since the last FORGET.  A write is redundant if its bytes were written since then on every path.
 */
enum ir_step_kind { IR_STEP_READ, IR_STEP_WRITE, IR_STEP_FORGET };

struct ir_step {
	/* The block's number.  Steps are sorted by block, and are in program order within a
	 * block. */
	uint32_t block;
	uint32_t key; /* the key that is accessed; not used for FORGET */
	enum ir_step_kind kind;
};

/* The bytes of a key.  Keys with the same base may contain one another. */
struct ir_key {
	uint32_t base;
	int64_t offset;
	uint64_t size;
};

struct ir_steps {
	const struct ir_step *items;
	size_t count;
	const struct ir_key *keys; /* the keys, which must be distinct */
	uint32_t key_count;
};

/* Sets redundant[i] to true if step i is redundant.  Steps in unreachable blocks are not
 * redundant. */
void ir_redundant(const struct facts_graph *g, const struct ir_steps *steps, bool *redundant);

#endif
