/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Duplicates the code of functions that contain guards.  A guard is a byte that is tested before
 * an access of a race candidate.  Such a function gets two copies of each block: a clean one,
 * without tests, and a guarded one.  Where control may change from one copy to the other, the code
 * tests the byte of the function's *region* (raddle/guard.h).
 *
 *	guard.c   puts a mark where a guard is (instr_mark)
 *	clone.c   chooses the functions, and where the byte is tested
 *	copy.c    copies a function's blocks
 *	quiet.c   handles loops of the guarded copy while their own guards are disabled
 *	strip.c   cuts loops that would run for long between two tests into pieces
 *	unroll.c  unrolls other loops whose iterations are too short for a test
 */
#ifndef INSTR_CLONE_H
#define INSTR_CLONE_H

#include "base/buf.h"
#include "instr/unit-int.h"
#include "ir/value.h"

/* A mark is a call that shows where a guard is.  The inliner regards it as free, no pass removes
 * it, and it touches no memory.  Its operands are the accessed address, the number of bytes, and
 * the number of the guard.  For synchronisation, the third operand is one of these values
 * instead. */
enum instr_mark_sync {
	MARK_ATOMIC = 1 << 30,	     /* plus an enum raddle_guard_atomic */
	MARK_OUTSIDE = 1 << 30 | 64, /* plus 1 if the thread leaves the program's code */
};
void instr_mark(struct instr_unit *u, LLVMValueRef address, LLVMValueRef size, uint32_t number);
bool instr_is_mark(LLVMValueRef inst); /* true if the instruction is the mark of a guard */
uint32_t instr_mark_guard(LLVMValueRef mark);
size_t instr_marks_in(LLVMBasicBlockRef block); /* the number of marks of guards */

/* A function in the form that reg2mem makes, in which only memory carries values from one block to
 * the next. */
struct instr_clone {
	struct instr_unit *unit;
	LLVMValueRef function;
	uint32_t region;  /* the number of the first region, which is that of the whole function */
	uint32_t regions; /* the number of regions */
	struct ir_cfg cfg;
	struct facts_loops loops;
	uint32_t *parent; /* for each loop, the loop around it; FACTS_NONE if there is none */
	bool *polled;	  /* for each loop, true if each iteration has a test */
	/* For each loop, true if its iterations are cheap but it must still test now and then. */
	bool *light;
	const struct instr_unrolled *unrolled;
	bool *meets; /* for each block, true if the byte is tested before it */
	/* For each block, true if its marks become tests in the clean copy too. */
	bool *keeps;
	LLVMBasicBlockRef *guarded; /* for each block, its guarded copy, if it has been made */
	/* For each block, the block that tests the byte before it, or NULL if there is none. */
	LLVMBasicBlockRef *meeting;
};

/* In strip.c.  Cuts loops without tests into pieces, if their form allows that.  Adds the first
 * block of each piece to the set `pieces`. */
void instr_clone_strip(struct instr_clone *t, struct rd_umap *pieces);
bool instr_clone_has_marks(const struct instr_clone *t, const struct facts_loop *loop);

/* Returns true if the loop has a counter.  Such a loop normally ends by itself. */
bool instr_clone_counts(const struct instr_clone *t, const struct facts_loop *loop);
/* Returns true if `inst` is neither a mark nor inserted by reg2mem. */
bool instr_clone_is_real(LLVMValueRef inst);

/* What is known about unrolled loops, as sets and maps of blocks.  Filled in by unroll.c. */
struct instr_unrolled {
	struct rd_umap headers; /* the headers of unrolled loops */
	/* The blocks that contain the test of an unrolled loop.  Control can change there from the
	 * clean copy to the guarded copy, but not back. */
	struct rd_umap tests;
	struct rd_umap first; /* maps the header of a later repetition to that of the first one */
	struct rd_umap tried; /* the headers of loops that were considered */
};
/* Unrolls one loop.  This invalidates the analysis of the function.  Returns false if no loop is
 * left to unroll. */
bool instr_clone_unroll(struct instr_clone *t, struct instr_unrolled *all);
void instr_unrolled_release(struct instr_unrolled *all);

/* copy.c */
void instr_clone_copy(struct instr_clone *t);
/* Copies a block's instructions to the builder's position.  The copies still have the original
 * operands. */
void instr_copy_block(struct instr_unit *u, LLVMBasicBlockRef block, struct rd_umap *copies);
/* Replaces those operands of a copy that were copied themselves. */
void instr_copy_operands(LLVMValueRef copy, const struct rd_umap *copies);
/* Inserts a test of a region's byte at the builder's position.  Returns the result of the test,
 * which is not 0 if the guarded copy must run. */
LLVMValueRef instr_clone_byte(struct instr_unit *u, uint32_t region);

/* In quiet.c.  Call this after the blocks are copied.  Assigns regions to loops, and adds the lines
 * that describe these regions to `regions`. */
void instr_clone_quiet(struct instr_clone *t, struct rd_buf *regions);

/* Makes a new first block, which contains the function's variables and is shared by all copies.
 * It has no terminator yet. */
LLVMBasicBlockRef instr_split_entry(struct instr_unit *u, LLVMBasicBlockRef old);
/* Marks the first of a branch's two targets as unlikely. */
void instr_say_rare(struct instr_unit *u, LLVMValueRef branch);

void instr_set_attribute(struct instr_unit *u, LLVMValueRef f, const char *name,
			 bool set); /* an attribute without a value */
/* Returns true if blocks of the function may be duplicated. */
bool instr_can_copy(LLVMValueRef function);
/* Moves values to memory in the functions of `chosen` only. */
int instr_to_memory(struct instr_unit *u, const struct rd_umap *chosen);

/* Returns true if the unit has a guard. */
bool instr_has_guards(const struct instr_unit *u);
/* Duplicates all functions of the unit that contain guards.  Call this between the two halves of
 * optimisation.  Adds the lines of RADDLE_GUARD_REGIONS to `regions`. */
int instr_clones(struct instr_unit *u, struct rd_buf *regions);

#endif
