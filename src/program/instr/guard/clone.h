/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions with guards have two copies of each block: a clean one, without tests, and a guarded
 * one.  Where the copies meet, the byte of the function's *region* is tested (raddle/guard.h).
 *
 *	guard.c   puts a mark where a guard is (instr_mark)
 *	clone.c   chooses the functions, and where the byte is tested
 *	copy.c    copies a function's blocks
 *	quiet.c   handles loops of the guarded copy whose own guards have nothing to do
 *	strip.c   cuts loops that would run for long between two tests into pieces
 *	unroll.c  unrolls other loops whose iterations are too short for a test
 */
#ifndef INSTR_CLONE_H
#define INSTR_CLONE_H

#include "base/buf.h"
#include "instr/unit-int.h"
#include "ir/value.h"

/* A mark is a call that costs the inliner nothing, that no pass removes and that touches no memory.
 * Its operands are the address accessed, the number of bytes, and the number of the guard, or one
 * of these for synchronisation. */
enum instr_mark_sync {
	MARK_ATOMIC = 1 << 30,	     /* and enum raddle_guard_atomic */
	MARK_OUTSIDE = 1 << 30 | 64, /* and 1 if the thread leaves */
};
void instr_mark(struct instr_unit *u, LLVMValueRef address, LLVMValueRef size, uint32_t number);
bool instr_is_mark(LLVMValueRef inst); /* of a guard */
uint32_t instr_mark_guard(LLVMValueRef mark);
size_t instr_marks_in(LLVMBasicBlockRef block); /* of guards */

/* A function in which only memory carries values from one block to the next (reg2mem). */
struct instr_clone {
	struct instr_unit *unit;
	LLVMValueRef function;
	uint32_t region;  /* its first one, of the whole function */
	uint32_t regions; /* how many it has */
	struct ir_cfg cfg;
	struct facts_loops loops;
	uint32_t *parent; /* of each loop: the one around it, FACTS_NONE: none */
	bool *polled;	  /* of each loop: each iteration tests */
	bool *light;	  /* of each loop: it must test sometimes, but its iterations are cheap */
	const struct instr_unrolled *unrolled;
	bool *meets;		    /* of each block: the byte is tested before it */
	bool *keeps;		    /* of each block: its marks are tests in the clean copy, too */
	LLVMBasicBlockRef *guarded; /* of each block: its copy, when there is one */
	LLVMBasicBlockRef *meeting; /* of each block: where the byte is tested; NULL: nowhere */
};

/* strip.c: cuts loops without tests into pieces where possible.  `pieces` gets the block at which
 * each piece begins. */
void instr_clone_strip(struct instr_clone *t, struct rd_umap *pieces);
bool instr_clone_has_marks(const struct instr_clone *t, const struct facts_loop *loop);

/* Whether the loop has a counter, so that it normally ends by itself. */
bool instr_clone_counts(const struct instr_clone *t, const struct facts_loop *loop);
bool instr_clone_is_real(LLVMValueRef inst); /* neither of reg2mem nor a mark */

/* unroll.c: keys are blocks. */
struct instr_unrolled {
	struct rd_umap headers; /* of unrolled loops */
	struct rd_umap tests;	/* where such a loop tests, which leads to the guarded copy only */
	struct rd_umap first;	/* from the header of a further copy to that of the first */
	struct rd_umap tried;	/* headers of loops that were considered */
};
/* Unrolls one loop, which invalidates the analysis of the function.  False: no loop is left to
 * unroll. */
bool instr_clone_unroll(struct instr_clone *t, struct instr_unrolled *all);
void instr_unrolled_release(struct instr_unrolled *all);

/* copy.c */
void instr_clone_copy(struct instr_clone *t);
/* Copies of a block's instructions, at the builder's place; their operands are still the old
 * ones. */
void instr_copy_block(struct instr_unit *u, LLVMBasicBlockRef block, struct rd_umap *copies);
void instr_copy_operands(LLVMValueRef copy, const struct rd_umap *copies); /* that are copied themselves */
/* A test of a region's byte at the builder's place; its result is not 0 if the guarded copy is to
 * run. */
LLVMValueRef instr_clone_byte(struct instr_unit *u, uint32_t region);

/* quiet.c: runs after the copying.  Gives regions to loops; `regions` gets their lines. */
void instr_clone_quiet(struct instr_clone *t, struct rd_buf *regions);

/* A new first block that holds the function's variables, which all copies share; it has no
 * terminator yet. */
LLVMBasicBlockRef instr_split_entry(struct instr_unit *u, LLVMBasicBlockRef old);
/* Marks the first of a branch's two targets as unlikely. */
void instr_say_rare(struct instr_unit *u, LLVMValueRef branch);

void instr_set_attribute(struct instr_unit *u, LLVMValueRef f, const char *name,
			 bool set); /* without a value */
/* Whether blocks of the function may be duplicated. */
bool instr_can_copy(LLVMValueRef function);
/* Moves values to memory, only in the functions of the list. */
int instr_to_memory(struct instr_unit *u, const struct rd_umap *chosen);

/* Whether there is a guard in the unit. */
bool instr_has_guards(const struct instr_unit *u);
/* All functions of the unit, between the two halves of optimisation.  `regions` gets the lines of
 * RADDLE_GUARD_REGIONS. */
int instr_clones(struct instr_unit *u, struct rd_buf *regions);

#endif
