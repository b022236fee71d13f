/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that a fault may change: the test of self->target is put behind the
 * instruction that makes the value (or before the call that takes it), and whoever used the
 * value uses what comes out of the test.  While a function is walked a `freeze`
 * holds the place of each test, because naming what is accessed sees through it.
 *
 * Left alone are phi nodes (what flows into them can be changed), values of no
 * machine type, and what the backend wants to see as it is: constants that an
 * intrinsic needs, arguments passed in memory.
 */
#include "instr/full.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The hook for values of a type, HOOK_COUNT if there is none.  Odd integers are extended to *wide. */
static enum instr_hook hook_of(struct full_function *x, LLVMTypeRef type, LLVMTypeRef *wide)
{
	LLVMContextRef context = x->u->context;
	unsigned width;
	*wide = NULL;
	switch (LLVMGetTypeKind(type)) {
	case LLVMFloatTypeKind:
		return HOOK_VALUE_FLOAT;
	case LLVMDoubleTypeKind:
		return HOOK_VALUE_DOUBLE;
	case LLVMPointerTypeKind:
		return LLVMGetPointerAddressSpace(type) == 0 ? HOOK_VALUE_POINTER : HOOK_COUNT;
	case LLVMIntegerTypeKind:
		break;
	default:
		return HOOK_COUNT;
	}
	width = LLVMGetIntTypeWidth(type);
	if (width == 1)
		return HOOK_VALUE_BOOL;
	if (width > 64)
		return HOOK_COUNT;
	enum instr_hook hook = width <= 8    ? HOOK_VALUE8
			       : width <= 16 ? HOOK_VALUE16
			       : width <= 32 ? HOOK_VALUE32
					     : HOOK_VALUE64;
	unsigned full = width <= 8 ? 8 : width <= 16 ? 16 : width <= 32 ? 32 : 64;
	if (width != full)
		*wide = LLVMIntTypeInContext(context, full);
	return hook;
}

bool full_is_injectable(struct full_function *x, LLVMValueRef v)
{
	LLVMTypeRef wide;
	return hook_of(x, LLVMTypeOf(v), &wide) != HOOK_COUNT;
}

static LLVMValueRef hold_place(struct full_function *x, LLVMValueRef v, uint32_t site)
{
	LLVMValueRef place = LLVMBuildFreeze(x->u->builder, v, "");
	RD_GROW(x->injections, x->injection_capacity, x->injection_count + 1);
	x->injections[x->injection_count++] = (struct full_injection){place, site};
	return place;
}

LLVMValueRef full_inject(struct full_function *x, LLVMValueRef v, uint32_t site)
{
	LLVMValueRef place;
	if (!full_is_injectable(x, v))
		return v;
	place = hold_place(x, v, site);
	LLVMReplaceAllUsesWith(v, place);
	LLVMSetOperand(place, 0, v);
	return place;
}

/* The place holder becomes the test. */
static void test_value(struct full_function *x, LLVMValueRef place, uint32_t site)
{
	LLVMValueRef v = LLVMGetOperand(place, 0);
	LLVMTypeRef type = LLVMTypeOf(v), wide;
	enum instr_hook hook = hook_of(x, type, &wide);
	LLVMBuilderRef b = x->u->builder;
	full_build_at(x, place);
	LLVMValueRef in = wide != NULL ? LLVMBuildZExt(b, v, wide, "") : v;
	LLVMValueRef out =
		instr_hook_call(x->u, hook, (LLVMValueRef[]){x->self, full_site_number(x, site), in});
	if (wide != NULL)
		out = LLVMBuildTrunc(b, out, type, "");
	LLVMReplaceAllUsesWith(place, out);
	LLVMInstructionEraseFromParent(place);
}

/* The callee is the last operand of a call. */
static void test_callee(struct full_function *x, LLVMValueRef call, uint32_t site)
{
	full_build_at(x, call);
	LLVMValueRef out = instr_hook_call(
		x->u, HOOK_CALLEE,
		(LLVMValueRef[]){x->self, full_site_number(x, site), LLVMGetCalledValue(call)});
	LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, out);
}

void full_inject_finish(struct full_function *x)
{
	for (size_t i = 0; i < x->injection_count; i++) {
		const struct full_injection *in = &x->injections[i];
		if (ir_is_call(in->place))
			test_callee(x, in->place, in->site);
		else
			test_value(x, in->place, in->site);
	}
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

void full_inject_arguments(struct full_function *x, LLVMValueRef call)
{
	LLVMValueRef callee = ir_callee(call);
	unsigned n = LLVMGetNumArgOperands(call);
	for (unsigned i = 0; i < n; i++) {
		LLVMValueRef v = LLVMGetArgOperand(call, i);
		char number[16];
		if (!full_is_injectable(x, v) || is_fixed(call, callee, i))
			continue;
		snprintf(number, sizeof number, "%u", i);
		uint32_t site = full_site(
			x, &(struct instr_site){.kind = "ia",
						.size = LLVMStoreSizeOfType(x->u->layout, LLVMTypeOf(v)),
						.flags = number,
						.inst = call,
						.callee = callee_name(x, callee),
						.type = LLVMTypeOf(v)});
		full_op(x, 'i', site);
		LLVMSetOperand(call, i, hold_place(x, v, site));
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
	x->injections[x->injection_count++] = (struct full_injection){call, site};
}
