/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flavour `shadow` at work on one function: beside each value that may depend on the program's input goes
 * a reference to an expression (include/raddle/shadow.h), in a register too.
 *
 *	instr_shadow_generate()  shadow.c        the unit: function by function, behind the optimiser
 *	shadow_value()           shadow-value.c  what computes, accesses and branches
 *	shadow_call()            shadow-call.c   calls: library functions with models, arguments, results
 */
#ifndef INSTR_SHADOW_H
#define INSTR_SHADOW_H

#include "instr/unit.h"
#include "ir/value.h"

struct shadow_function {
	struct instr_unit *u;
	LLVMValueRef function;
	struct rd_umap may;  /* values that may depend on input */
	struct rd_umap refs; /* value to its reference; 0: it is still to be made */
	uint32_t *site;	     /* number of the next branch in the unit */
};

/* Bits of an integer or a pointer that can have an expression; 0: it cannot. */
unsigned shadow_bits(const struct instr_unit *u, LLVMTypeRef type);
bool shadow_may(const struct shadow_function *x, LLVMValueRef v);
/* Whether the instruction's own value may depend on input, if its operands do as far as is known. */
bool shadow_is_source(const struct shadow_function *x, LLVMValueRef inst);
bool shadow_passes_on(LLVMValueRef inst);

/* The reference of a value; the constant 0 where it is concrete. */
LLVMValueRef shadow_ref(const struct shadow_function *x, LLVMValueRef v);
void shadow_set_ref(struct shadow_function *x, LLVMValueRef v, LLVMValueRef ref);

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
/* The operator that an intrinsic is: a comparison whose operand is chosen; 0: none. */
unsigned shadow_choice(LLVMValueRef call, bool *swapped);

#endif
