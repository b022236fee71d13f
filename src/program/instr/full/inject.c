/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inserts code that tests whether a fault is to change a value.  This test (of self->target) is
 * inserted after the instruction that makes the value, or before the call that takes it.  Users of
 * the value then use the result of the test.  During the walk over a function, each test is
 * represented by a `freeze` instruction, because the code that names accesses skips such
 * instructions.
 *
 * These values are not tested:
 *   - phi nodes, because their incoming values can be tested instead
 *   - values without a machine type
 *   - values that the backend needs unchanged: constants that an intrinsic needs, and arguments
 *     passed in memory
 */
#include "instr/full/full.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool full_is_injectable(LLVMValueRef v)
{
	return instr_target_bits(LLVMTypeOf(v)) != 0;
}

static LLVMValueRef add_placeholder(struct full_function *x, LLVMValueRef v, uint32_t site)
{
	LLVMValueRef self = full_self(x), place = LLVMBuildFreeze(x->u->builder, v, "");
	RD_GROW(x->injections, x->injection_capacity, x->injection_count + 1);
	x->injections[x->injection_count++] = (struct full_injection){place, self, site};
	return place;
}

LLVMValueRef full_inject(struct full_function *x, LLVMValueRef v, uint32_t site)
{
	LLVMValueRef place;
	if (!full_is_injectable(v))
		return v;
	place = add_placeholder(x, v, site);
	LLVMReplaceAllUsesWith(v, place);
	LLVMSetOperand(place, 0, v);
	return place;
}

/* Replaces the placeholder by the test.  The callee is the last operand of a call. */
static void put_test(struct full_function *x, const struct full_injection *in)
{
	bool is_call = ir_is_call(in->place);
	LLVMValueRef place = in->place, v = is_call ? LLVMGetCalledValue(place) : LLVMGetOperand(place, 0);
	struct instr_test test = {in->self, (uint32_t)LLVMConstIntGetZExtValue(full_site_number(x, in->site)),
				  is_call};
	full_build_at(x, place);
	LLVMValueRef out = instr_target_test(x->u, v, &test);
	if (is_call) {
		LLVMSetOperand(place, (unsigned)LLVMGetNumOperands(place) - 1, out);
		return;
	}
	LLVMReplaceAllUsesWith(place, out);
	LLVMInstructionEraseFromParent(place);
}

void full_inject_finish(struct full_function *x)
{
	for (size_t i = 0; i < x->injection_count; i++)
		put_test(x, &x->injections[i]);
	free(x->injections);
}

static bool is_fixed(LLVMValueRef call, LLVMValueRef callee, unsigned argument)
{
	static const char *const names[] = {"byval", "sret",	   "inalloca",	"preallocated", "immarg",
					    "nest",  "swifterror", "swiftself", "swiftasync"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
		if (LLVMGetCallSiteEnumAttribute(call, argument + 1, kind) != NULL ||
		    (callee != NULL && argument < LLVMCountParams(callee) &&
		     LLVMGetEnumAttributeAtIndex(callee, argument + 1, kind) != NULL))
			return true;
	}
	return false;
}

static const char *callee_name(struct full_function *x, LLVMValueRef callee)
{
	return callee != NULL ? ir_debug_function_name(x->u->sites.debug, callee) : NULL;
}

/* Replaces an operand of an instruction by a value that faults can change.  `what` describes the
 * site. */
static void strike_operand(struct full_function *x, unsigned i, struct instr_site what)
{
	LLVMValueRef v = LLVMGetOperand(what.inst, i);
	char number[16];
	snprintf(number, sizeof number, "%u", i);
	what.size = LLVMStoreSizeOfType(x->u->layout, LLVMTypeOf(v));
	what.flags = number;
	uint32_t site = full_site(x, &what);
	full_op(x, 'i', site);
	LLVMSetOperand(what.inst, i, add_placeholder(x, v, site));
}

void full_inject_arguments(struct full_function *x, LLVMValueRef call)
{
	LLVMValueRef callee = ir_callee(call);
	unsigned n = LLVMGetNumArgOperands(call);
	for (unsigned i = 0; i < n; i++) {
		LLVMValueRef v = LLVMGetArgOperand(call, i);
		if (full_is_injectable(v) && !is_fixed(call, callee, i))
			strike_operand(x, i,
				       (struct instr_site){.kind = "ia",
							   .inst = call,
							   .callee = callee_name(x, callee),
							   .type = LLVMTypeOf(v)});
	}
}

void full_inject_call(struct full_function *x, LLVMValueRef call)
{
	LLVMValueRef callee = ir_callee(call);
	uint32_t site = full_site(
		x, &(struct instr_site){
			   .kind = "k", .flags = "", .inst = call, .callee = callee_name(x, callee)});
	full_op(x, 'i', site);
	RD_GROW(x->injections, x->injection_capacity, x->injection_count + 1);
	x->injections[x->injection_count++] = (struct full_injection){call, full_self(x), site};
}

/* Returns true if the operand is the address of a load or store.  Even the address of a global
 * variable counts, because faults in memory need that address. */
static bool is_memory(LLVMValueRef inst, int operand)
{
	return LLVMIsALoadInst(inst) || (LLVMIsAStoreInst(inst) && operand == 1);
}

/* Returns the type of the accessed memory if the operand is an address.  Otherwise returns the
 * type of the operand. */
static LLVMTypeRef accessed_type(LLVMValueRef inst, int operand, LLVMValueRef v)
{
	if (!is_memory(inst, operand))
		return LLVMTypeOf(v);
	return LLVMTypeOf(LLVMIsALoadInst(inst) ? inst : LLVMGetOperand(inst, 0));
}

void full_inject_operands(struct full_function *x, LLVMValueRef inst, const char *name)
{
	for (int i = 0; i < LLVMGetNumOperands(inst); i++) {
		LLVMValueRef v = LLVMGetOperand(inst, (unsigned)i);
		if ((!LLVMIsAInstruction(v) && !LLVMIsAArgument(v) && !is_memory(inst, i)) ||
		    !full_is_injectable(v))
			continue;
		strike_operand(x, (unsigned)i,
			       (struct instr_site){.kind = "o",
						   .inst = inst,
						   .callee = name,
						   .type = accessed_type(inst, i, v)});
	}
}
