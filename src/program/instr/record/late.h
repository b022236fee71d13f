/* SPDX-License-Identifier: Apache-2.0 */
/* The hooks of a function after optimisation: declarations that late.c, loop.c and pair.c share. */
#ifndef INSTR_LATE_H
#define INSTR_LATE_H

#include "instr/unit-int.h"
#include "ir/effects.h"
#include "ir/value.h"

/* A hook call of the optimised function. */
struct late_hook {
	LLVMValueRef call; /* the call; NULL once it has been removed */
	enum instr_hook hook;
	uint32_t block;
	uint64_t size; /* the size of an access in bytes; 0 for a range */
	bool write;
};

struct late {
	struct instr_unit *unit;
	struct ir_effects *effects;
	LLVMValueRef function, self;
	struct ir_cfg cfg;
	struct facts_loops loops;
	/* For each block, true if it contains something that may end a segment. */
	bool *forgets;
	struct late_hook *hooks; /* the hooks, in the order of blocks, then of instructions */
	size_t count, capacity;
};

/* A loop in the form that LLVM's loop passes produce. */
struct late_shape {
	struct late *late;
	const struct facts_loop *loop;
	/* Input: true if `rounds` is allowed to be an upper bound.  Output: true if `rounds` is an
	 * upper bound and not exact. */
	bool at_most;
	uint32_t preheader; /* the number of the preheader, the block before the loop */
	/* The number of the block that ends an iteration, or FACTS_NONE if there are several. */
	uint32_t latch;
	LLVMValueRef end; /* the preheader's terminator */
	/* The number of iterations, as a 64-bit value in the preheader, or NULL if it is
	 * unknown. */
	LLVMValueRef rounds;
};

/* Fills in the other members of `s`.  The caller has set `late`, `loop` and `at_most`.  Returns
 * false if hooks cannot be moved out of a loop of this form. */
bool instr_late_shape(struct late_shape *s);

/* The memory that an access in the loop touches.  There are `rounds` accesses; the first is at
 * `first`, and each is `by` bytes after the previous one.  The values are computed in the
 * preheader.  They may cover more than the loop touches, but never less. */
struct late_extent {
	LLVMValueRef first, rounds;
	int64_t by;
};
bool instr_late_extent(struct late_shape *s, LLVMValueRef pointer, struct late_extent *out);

/* Moves hooks out of loops where that does not change the recorded bytes. */
void instr_late_loops(struct late *l);

/* Merges two hooks for adjacent bytes into one (pair.c). */
void instr_late_pairs(struct late *l);

/* Returns true if an instruction calls a hook, and stores which hook it is. */
bool instr_late_which(const struct instr_unit *u, LLVMValueRef inst, enum instr_hook *hook);

/* Erases a hook's call. */
void instr_late_drop(struct late_hook *hook);

#endif
