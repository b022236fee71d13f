/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flavour `shadow` at work on one function.  Each value that may depend on the program's input
 * gets a reference to an expression (raddle/shadow.h).  The reference is a value too, so it can
 * stay in a register.
 *
 *	instr_shadow_generate()  shadow.c  the unit: function by function, after the optimiser
 *	shadow_value()           value.c   instructions that compute, access memory or branch
 *	shadow_call()            call.c    calls: library functions with models, arguments, results
 *	shadow_loops_find()      loop.c    loops that may be duplicated, for concrete values
 */
#ifndef INSTR_SHADOW_H
#define INSTR_SHADOW_H

#include "instr/unit-int.h"
#include "ir/value.h"

/* A loop that is duplicated. */
struct shadow_loop {
	LLVMValueRef end;   /* terminator of the block before it */
	LLVMValueRef marks; /* there: not 0 if memory that it touches may have expressions */
	LLVMValueRef flag;  /* there: whether it has to follow the input; NULL until it is made */
	LLVMBasicBlockRef header;
	LLVMBasicBlockRef *body;
	uint32_t size;
};

struct shadow_function {
	struct instr_unit *u;
	LLVMValueRef function;
	struct rd_umap may;  /* values that may depend on input */
	struct rd_umap refs; /* value to its reference; 0: it is still to be made */
	uint32_t *site;	     /* number of the next branch in the unit */
	struct shadow_loop *loops;
	size_t loop_count, loop_capacity;
	struct rd_umap loop_of;		  /* block of a loop, or terminator before it, to its number + 1 */
	struct rd_umap covered;		  /* accesses that the flag of their loop covers */
	struct rd_umap loose;		  /* values that may depend on input whatever the flag states */
	const struct shadow_loop *inside; /* where references are asked for; NULL: in no such loop */
};

/* Bits of an integer or a pointer that can have an expression; 0: it cannot. */
unsigned shadow_bits(const struct instr_unit *u, LLVMTypeRef type);
bool shadow_may(const struct shadow_function *x, LLVMValueRef v);
/* Whether the value of an instruction may depend on input: whatever its operands are (a load, the
 * result of a call), or if one of its operands does. */
bool shadow_is_source(const struct shadow_function *x, LLVMValueRef inst);
bool shadow_passes_on(LLVMValueRef inst);

/* The reference of a value; the constant 0 where it is concrete. */
LLVMValueRef shadow_ref(const struct shadow_function *x, LLVMValueRef v);
void shadow_set_ref(struct shadow_function *x, LLVMValueRef v, LLVMValueRef ref);

/* Loops: finds them, sets the place where references are needed next, and makes the flag once the
 * references from before the loop are known. */
void shadow_loops_find(struct shadow_function *x);
void shadow_loops_release(struct shadow_function *x);
void shadow_loop_at(struct shadow_function *x, LLVMBasicBlockRef block);
void shadow_loop_enter(struct shadow_function *x, LLVMValueRef end);
/* The reference as the current loop sees it: the constant 0 if the flag is not set. */
LLVMValueRef shadow_loop_ref(const struct shadow_function *x, LLVMValueRef v, LLVMValueRef ref);
/* The flag for an access; NULL: the access has to test the marks itself. */
LLVMValueRef shadow_loop_flag(const struct shadow_function *x, LLVMValueRef access);

/* At the builder's place. */
LLVMValueRef shadow_word(struct shadow_function *x, LLVMValueRef v); /* its value in 64 bits */
LLVMValueRef shadow_i32(const struct shadow_function *x, uint64_t n);
LLVMValueRef shadow_i64(const struct shadow_function *x, uint64_t n);
void shadow_at(struct shadow_function *x, LLVMValueRef inst);

void shadow_value(struct shadow_function *x, LLVMValueRef inst);
void shadow_call(struct shadow_function *x, LLVMValueRef call);
void shadow_entry(struct shadow_function *x);
void shadow_return(struct shadow_function *x, LLVMValueRef inst);
bool shadow_call_is_source(const struct shadow_function *x, LLVMValueRef call);
/* The comparison of an intrinsic that chooses one of its operands (minimum, maximum); 0: another
 * intrinsic. */
unsigned shadow_choice(LLVMValueRef call, bool *swapped);

#endif
