/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Analyses values that may be addresses, or parts of addresses.  It finds out whether code
 * calculates with them, and whether a store writes a value that a load has read.  The results
 * become marks after the types of the values.  Tests for faults appear as `freeze` instructions
 * between values and their users, and are skipped.
 */
#include "instr/full/full.h"

#define LOOK_DEPTH 6 /* how many levels of uses are followed; set by hand, to limit the time */
#define LOOK_MAX 128 /* largest number of uses that are visited; set by hand, to limit the time */

struct look {
	unsigned left;
	/* True if the value has less than eight bytes, so that it is only a part of an address. */
	bool part;
};

static LLVMValueRef behind_tests(LLVMValueRef v)
{
	while (LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMFreeze)
		v = LLVMGetOperand(v, 0);
	return v;
}

/* Returns true if an operation turns an address into a number that is no longer a location.  Sums,
 * differences, and the setting or clearing of bits do not count, unless the value is only a part
 * of the address.  Such operations are common, and mostly have the same effect in every run. */
static bool is_calculation(LLVMOpcode opcode, bool part)
{
	switch (opcode) {
	case LLVMURem:
	case LLVMUDiv:
	case LLVMSRem:
	case LLVMSDiv:
	case LLVMLShr:
	case LLVMAShr:
	case LLVMMul:
	case LLVMXor: return true;
	case LLVMTrunc: return !part;
	case LLVMAdd:
	case LLVMSub:
	case LLVMShl:
	case LLVMAnd:
	case LLVMOr: return part;
	default: return false;
	}
}

/* Returns true if the result of `user` is still the address, or an address near it. */
static bool is_passage(LLVMValueRef user, LLVMValueRef v)
{
	switch (LLVMGetInstructionOpcode(user)) {
	case LLVMFreeze:
	case LLVMPHI:
	case LLVMPtrToInt:
	case LLVMBitCast:
	case LLVMZExt:
	case LLVMSExt: return true;
	case LLVMGetElementPtr: return LLVMGetOperand(user, 0) == v;
	default: return false;
	}
}

static bool leads_to_calculation(struct look *look, LLVMValueRef v, unsigned depth)
{
	for (LLVMUseRef use = LLVMGetFirstUse(v); use != NULL && look->left > 0; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		look->left--;
		if (!LLVMIsAInstruction(user))
			continue;
		if (is_calculation(LLVMGetInstructionOpcode(user), look->part))
			return true;
		if (depth < LOOK_DEPTH && is_passage(user, v) && leads_to_calculation(look, user, depth + 1))
			return true;
	}
	return false;
}

bool full_is_calculated_with(struct full_function *x, LLVMValueRef v)
{
	LLVMTypeRef type = LLVMTypeOf(v);
	LLVMTypeKind kind = LLVMGetTypeKind(type);
	struct look look = {.left = LOOK_MAX};
	if (kind != LLVMPointerTypeKind && kind != LLVMIntegerTypeKind)
		return false;
	look.part = LLVMStoreSizeOfType(x->u->layout, type) < 8;
	return leads_to_calculation(&look, v, 0);
}

bool full_numbers_variable(struct full_function *x, LLVMValueRef inst)
{
	LLVMValueRef base = inst;
	if (LLVMGetInstructionOpcode(inst) != LLVMPtrToInt)
		return false;
	do
		base = behind_tests(LLVMGetOperand(base, 0));
	while (LLVMIsAGetElementPtrInst(base) || LLVMIsABitCastInst(base));
	return (LLVMIsAAllocaInst(base) || LLVMIsAGlobalVariable(base)) && full_is_calculated_with(x, inst);
}

uint32_t full_moved_from(struct full_function *x, LLVMValueRef value)
{
	LLVMValueRef load = behind_tests(value);
	const uint64_t *site = LLVMIsALoadInst(load) ? rd_umap_get(&x->loads, (uintptr_t)load) : NULL;
	return site && LLVMStoreSizeOfType(x->u->layout, LLVMTypeOf(value)) < 8 ? (uint32_t)*site : 0;
}
