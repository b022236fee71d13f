/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instruments one function for the flavour `shadow`.  Each value that may depend on the program's
 * input gets a reference to an expression (raddle/shadow.h).  The reference is a value too, so it
 * can stay in a register.
 *
 * 	instr_shadow_generate()  shadow.c  the unit: function by function, after the optimiser
 * 	shadow_value()           value.c   instructions that compute, access memory or branch
 * 	shadow_call()            call.c    calls: library functions with models, arguments, results
 * 	shadow_loops_find()      loop.c    loops that may be duplicated, for concrete values
 */
#ifndef INSTR_SHADOW_H
#define INSTR_SHADOW_H

#include "instr/unit-int.h"
#include "ir/value.h"

struct shadow_loop {
	LLVMValueRef end; /* the terminator of the block before the loop */
	/* A value before the loop.  It is not 0 if memory that the loop touches may depend on
	 * input. */
	LLVMValueRef marks;
	/* A value before the loop.  It is true if the loop must compute expressions.  NULL until
	 * it is made. */
	LLVMValueRef flag;
	LLVMBasicBlockRef header;
	LLVMBasicBlockRef *body;
	uint32_t size;
};

struct shadow_function {
	struct instr_unit *u;
	LLVMValueRef function;
	struct rd_umap may; /* the values that may depend on input */
	/* Maps a value to its reference, or to 0 if the reference is not made yet. */
	struct rd_umap refs;
	uint32_t *site; /* the number of the unit's next branch */
	struct shadow_loop *loops;
	size_t loop_count, loop_capacity;
	/* Maps each block of a loop, and the terminator before the loop, to 1 + the loop's
	 * number. */
	struct rd_umap loop_of;
	struct rd_umap covered; /* accesses whose memory the flag of their loop covers */
	struct rd_umap loose;	/* values that may depend on input even if the flag is not set */
	/* The loop in which references are needed now; NULL outside such loops. */
	const struct shadow_loop *inside;
};

/* Returns the width of an integer or pointer that can have an expression, in bits, or 0 for other
 * types. */
unsigned shadow_bits(const struct instr_unit *u, LLVMTypeRef type);
/* Returns true if a value may depend on input. */
bool shadow_may(const struct shadow_function *x, LLVMValueRef v);
/* Returns true if the value of an instruction may depend on input no matter what its operands are.
 * Examples are a load and the result of a call. */
bool shadow_is_source(const struct shadow_function *x, LLVMValueRef inst);
/* Returns true if the value of an instruction may depend on input when one of its operands does. */
bool shadow_passes_on(LLVMValueRef inst);

/* Returns the reference of a value, or the constant 0 if the value is concrete. */
LLVMValueRef shadow_ref(const struct shadow_function *x, LLVMValueRef v);
void shadow_set_ref(struct shadow_function *x, LLVMValueRef v, LLVMValueRef ref);

/* Finds the loops of the function. */
void shadow_loops_find(struct shadow_function *x);
void shadow_loops_release(struct shadow_function *x);
/* Sets the block in which references are needed next. */
void shadow_loop_at(struct shadow_function *x, LLVMBasicBlockRef block);
/* Makes the flag of a loop.  Call this when the references from before the loop are known. */
void shadow_loop_enter(struct shadow_function *x, LLVMValueRef end);
/* Returns the reference of a value inside the current loop.  It is 0 if the loop's flag is
 * not set. */
LLVMValueRef shadow_loop_ref(const struct shadow_function *x, LLVMValueRef v, LLVMValueRef ref);
/* Returns the flag that an access tests, or NULL if the access has to test the marks itself. */
LLVMValueRef shadow_loop_flag(const struct shadow_function *x, LLVMValueRef access);

/* The following functions insert code at the builder's position. */

/* Returns the value, extended to 64 bits. */
LLVMValueRef shadow_word(struct shadow_function *x, LLVMValueRef v);
LLVMValueRef shadow_i32(const struct shadow_function *x, uint64_t n);
LLVMValueRef shadow_i64(const struct shadow_function *x, uint64_t n);
void shadow_at(struct shadow_function *x, LLVMValueRef inst);

void shadow_value(struct shadow_function *x, LLVMValueRef inst);
void shadow_call(struct shadow_function *x, LLVMValueRef call);
void shadow_entry(struct shadow_function *x);
void shadow_return(struct shadow_function *x, LLVMValueRef inst);
bool shadow_call_is_source(const struct shadow_function *x, LLVMValueRef call);
/* Returns the comparison by which an intrinsic (minimum, maximum) chooses between its operands, or
 * 0 for other intrinsics. */
unsigned shadow_choice(LLVMValueRef call, bool *swapped);

#endif
