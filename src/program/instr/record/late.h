/* SPDX-License-Identifier: Apache-2.0 */
/* What late.c and loop.c share: the hooks of a function after optimisation. */
#ifndef INSTR_LATE_H
#define INSTR_LATE_H

#include "instr/unit-int.h"
#include "ir/effects.h"
#include "ir/value.h"

/* A hook call of the optimised function. */
struct late_hook {
	LLVMValueRef call; /* NULL once it is gone */
	enum instr_hook hook;
	uint32_t block;
	uint64_t size; /* of an access; 0 for a range */
	bool write;
};

struct late {
	struct instr_unit *unit;
	struct ir_effects *effects;
	LLVMValueRef function, self;
	struct ir_cfg cfg;
	struct facts_loops loops;
	bool *forgets;		 /* per block: it holds something that may end a segment */
	struct late_hook *hooks; /* in order of blocks, then of instructions */
	size_t count, capacity;
};

/* A loop in the form that optimisers give it. */
struct late_shape {
	struct late *late;
	const struct facts_loop *loop;
	bool at_most;	     /* in: `rounds` may be only an upper bound; out: it is only that */
	uint32_t preheader;  /* block number */
	uint32_t latch;	     /* FACTS_NONE if there are several */
	LLVMValueRef end;    /* the preheader's terminator */
	LLVMValueRef rounds; /* as 64 bits, in the preheader; NULL: not known */
};

/* Completes `s`, in which `late`, `loop` and `at_most` are set.  False: the loop has another
 * form. */
bool instr_late_shape(struct late_shape *s);

/* What an access in the loop touches: `rounds` accesses, the first at `first`, each `by` bytes
 * after the previous one.  The code is in the preheader.  It may cover more than the loop touches,
 * but never less. */
struct late_extent {
	LLVMValueRef first, rounds;
	int64_t by;
};
bool instr_late_extent(struct late_shape *s, LLVMValueRef pointer, struct late_extent *out);

/* Moves hooks out of loops where that keeps their meaning. */
void instr_late_loops(struct late *l);

/* Merges two hooks for adjacent bytes into one (pair.c). */
void instr_late_pairs(struct late *l);

/* Whether an instruction calls a hook, and which. */
bool instr_late_which(const struct instr_unit *u, LLVMValueRef inst, enum instr_hook *hook);

/* Erases a hook's call. */
void instr_late_drop(struct late_hook *hook);

#endif
