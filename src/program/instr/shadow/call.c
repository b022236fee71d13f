/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes references through calls.  If a library function has a model, the call is replaced by the
 * model.  Other functions that may be instrumented, here or in another unit, get the references of
 * arguments and return the references of results.
 */
#include "instr/shadow/shadow.h"

#include "instr/scan/event.h"
#include "raddle/shadow.h"

#include <stdlib.h>
#include <string.h>

/* Returns the model of a library function, or NULL if it has none. */
static const char *model_of(const char *name)
{
	static const struct {
		const char *function, *model;
	} models[] = {
#define RADDLE_MODEL(function, model) {#function, "__raddle_sx_" #model},
#include "raddle/model.inc"
#undef RADDLE_MODEL
	};
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		if (strcmp(models[i].function, name) == 0)
			return models[i].model;
	return NULL;
}

static bool allocates(const char *name)
{
	static const char *const names[] = {"malloc", "calloc", "realloc", "aligned_alloc", "_Znwm", "_Znam"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Returns true if the called function may be instrumented, so that it handles references. */
static bool may_know(LLVMValueRef callee)
{
	size_t rows;
	const char *name;
	if (callee == NULL)
		return true;
	name = ir_name(callee);
	if (LLVMGetIntrinsicID(callee) != 0 || ir_starts(name, "__raddle_"))
		return false;
	return !ir_is_external(callee) || (instr_libc_find(name, &rows) == NULL && !allocates(name));
}

static const char *model_of_call(LLVMValueRef call)
{
	LLVMValueRef callee = ir_callee(call);
	return callee != NULL && ir_is_external(callee) && LLVMGetCalledValue(call) == callee
		       ? model_of(ir_name(callee))
		       : NULL;
}

static bool is_tail(LLVMValueRef call)
{
	return LLVMGetInstructionOpcode(call) == LLVMCall &&
	       LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail;
}

static bool is_asm(LLVMValueRef call)
{
	return LLVMIsAInlineAsm(LLVMGetCalledValue(call)) != NULL;
}

/* Returns true if the code after the call is reached only from this call.  The block that an
 * invoke returns to may also be reached from elsewhere. */
static bool returns_alone(LLVMValueRef call)
{
	LLVMBasicBlockRef to;
	LLVMValueRef block;
	int uses = 0;
	if (LLVMGetInstructionOpcode(call) != LLVMInvoke)
		return true;
	to = LLVMGetNormalDest(call);
	block = LLVMBasicBlockAsValue(to);
	for (LLVMUseRef use = LLVMGetFirstUse(block); use != NULL; use = LLVMGetNextUse(use))
		uses++;
	return uses == 1;
}

bool shadow_call_is_source(const struct shadow_function *x, LLVMValueRef call)
{
	if (is_asm(call) || is_tail(call) || !returns_alone(call) ||
	    LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMIntegerTypeKind ||
	    shadow_bits(x->u, LLVMTypeOf(call)) == 0)
		return false;
	return model_of_call(call) != NULL || may_know(ir_callee(call));
}

unsigned shadow_choice(LLVMValueRef call, bool *swapped)
{
	static const struct {
		const char *name;
		unsigned op;
		bool swapped;
	} table[] = {{"llvm.umin.i", RADDLE_EXPR_ULT, false},
		     {"llvm.umax.i", RADDLE_EXPR_ULT, true},
		     {"llvm.smin.i", RADDLE_EXPR_SLT, false},
		     {"llvm.smax.i", RADDLE_EXPR_SLT, true}};
	LLVMValueRef callee = LLVMGetInstructionOpcode(call) == LLVMCall ? ir_callee(call) : NULL;
	if (callee == NULL || LLVMGetIntrinsicID(callee) == 0)
		return 0;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (ir_starts(ir_name(callee), table[i].name)) {
			*swapped = table[i].swapped;
			return table[i].op;
		}
	return 0;
}

/* ---- arguments and results ---- */

/* Combines the references of all arguments.  The result is not 0 if any argument has an
 * expression. */
static LLVMValueRef any_argument(struct shadow_function *x, LLVMValueRef call, bool *some)
{
	LLVMValueRef any = shadow_i32(x, 0);
	unsigned n = LLVMGetNumArgOperands(call);
	*some = false;
	for (unsigned i = 0; i < n && i < RADDLE_SHADOW_ARGUMENTS; i++) {
		LLVMValueRef v = LLVMGetArgOperand(call, i);
		if (!shadow_may(x, v))
			continue;
		any = LLVMBuildOr(x->u->builder, any, shadow_ref(x, v), "");
		*some = true;
	}
	return any;
}

static void pass_arguments(struct shadow_function *x, LLVMValueRef call)
{
	unsigned n = LLVMGetNumArgOperands(call);
	bool some, wanted = shadow_may(x, call);
	shadow_at(x, call);
	LLVMValueRef any = any_argument(x, call, &some);
	if (!some && !wanted)
		return;
	if (n > RADDLE_SHADOW_ARGUMENTS)
		n = RADDLE_SHADOW_ARGUMENTS;
	instr_hook_call(x->u, HOOK_SX_CALL,
			(LLVMValueRef[]){LLVMGetCalledValue(call), any, shadow_i32(x, some ? n : 0)});
	for (unsigned i = 0; i < n && some; i++)
		instr_hook_call(
			x->u, HOOK_SX_ARGUMENT,
			(LLVMValueRef[]){shadow_i32(x, i), shadow_ref(x, LLVMGetArgOperand(call, i))});
}

static void take_result(struct shadow_function *x, LLVMValueRef call)
{
	if (!shadow_may(x, call))
		return;
	shadow_at(x, instr_place_after(call));
	LLVMValueRef callee = LLVMGetCalledValue(call);
	shadow_set_ref(x, call, instr_hook_call(x->u, HOOK_SX_RESULT, &callee));
}

void shadow_entry(struct shadow_function *x)
{
	LLVMValueRef at = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(x->function));
	bool some = false;
	while (LLVMIsAAllocaInst(at) || LLVMIsAPHINode(at))
		at = LLVMGetNextInstruction(at);
	shadow_at(x, at);
	for (unsigned i = 0; i < LLVMCountParams(x->function) && i < RADDLE_SHADOW_ARGUMENTS; i++) {
		LLVMValueRef p = LLVMGetParam(x->function, i);
		if (!shadow_may(x, p))
			continue;
		shadow_set_ref(x, p,
			       instr_hook_call(x->u, HOOK_SX_PARAM,
					       (LLVMValueRef[]){x->function, shadow_i32(x, i)}));
		some = true;
	}
	if (some)
		instr_hook_call(x->u, HOOK_SX_ENTERED, NULL);
	for (LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(x->function));
	     i != NULL && i != at; i = LLVMGetNextInstruction(i)) {
		uint64_t size = LLVMIsAAllocaInst(i) != NULL && LLVMIsAConstantInt(LLVMGetOperand(i, 0))
					? LLVMABISizeOfType(x->u->layout, LLVMGetAllocatedType(i))
					: 0;
		if (size > 0 && size <= 4096)
			instr_hook_call(x->u, HOOK_SX_FRESH, (LLVMValueRef[]){i, shadow_i64(x, size)});
		else if (size > 0)
			instr_hook_call(x->u, HOOK_SX_MADE, (LLVMValueRef[]){i, shadow_i64(x, size)});
	}
}

void shadow_return(struct shadow_function *x, LLVMValueRef inst)
{
	LLVMValueRef before = LLVMGetPreviousInstruction(inst), value;
	if (LLVMGetNumOperands(inst) == 0)
		return;
	value = LLVMGetOperand(inst, 0);
	if (!shadow_may(x, value) || (before != NULL && LLVMIsACallInst(before) != NULL && is_tail(before)))
		return;
	shadow_at(x, inst);
	instr_hook_call(x->u, HOOK_SX_RETURN, (LLVMValueRef[]){x->function, shadow_ref(x, value)});
}

/* ---- calls ---- */

static void memory_intrinsic(struct shadow_function *x, LLVMValueRef call, const char *name)
{
	bool copies = ir_starts(name, "llvm.memcpy.") || ir_starts(name, "llvm.memmove.");
	if (!copies && !ir_starts(name, "llvm.memset."))
		return;
	shadow_at(x, instr_place_after(call));
	LLVMValueRef size = shadow_word(x, LLVMGetArgOperand(call, 2)), to = LLVMGetArgOperand(call, 0),
		     from = LLVMGetArgOperand(call, 1);
	if (copies)
		instr_hook_call(x->u, HOOK_SX_COPIED, (LLVMValueRef[]){to, from, size});
	else
		instr_hook_call(x->u, HOOK_SX_FILLED, (LLVMValueRef[]){to, shadow_ref(x, from), size});
}

/* Handles an allocation.  New memory has no expressions, even if the same memory had some
 * before. */
static void allocated(struct shadow_function *x, LLVMValueRef call, const char *name)
{
	bool is_pair = strcmp(name, "calloc") == 0,
	     is_second = is_pair || strcmp(name, "realloc") == 0 || strcmp(name, "aligned_alloc") == 0;
	if (strcmp(name, "realloc") == 0 || !returns_alone(call) || is_tail(call))
		/* No code is inserted.  After realloc(), it is unknown which memory was moved.
		 * After the other calls, there is no suitable place for the code.  Expressions
		 * whose values no longer match are dropped later. */
		return;
	shadow_at(x, instr_place_after(call));
	LLVMValueRef size = shadow_word(x, LLVMGetArgOperand(call, is_second ? 1 : 0));
	if (is_pair)
		size = LLVMBuildMul(x->u->builder, size, shadow_word(x, LLVMGetArgOperand(call, 0)), "");
	instr_hook_call(x->u, HOOK_SX_MADE, (LLVMValueRef[]){call, size});
}

static void use_model(struct shadow_function *x, LLVMValueRef call, const char *model)
{
	LLVMTypeRef type = LLVMGetCalledFunctionType(call);
	LLVMValueRef f = LLVMGetNamedFunction(x->u->module, model);
	if (f == NULL)
		f = LLVMAddFunction(x->u->module, model, type);
	LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, f);
	instr_drop_call_promises(call);
	if (LLVMGetInstructionOpcode(call) == LLVMCall)
		LLVMSetTailCall(call, false);
}

void shadow_call(struct shadow_function *x, LLVMValueRef call)
{
	LLVMValueRef callee = ir_callee(call);
	const char *name = callee != NULL ? ir_name(callee) : "", *model;
	if (is_asm(call) || is_tail(call) || ir_starts(name, "__raddle_"))
		return;
	if (callee != NULL && LLVMGetIntrinsicID(callee) != 0) {
		memory_intrinsic(x, call, name);
		return;
	}
	model = model_of_call(call);
	if (model != NULL)
		use_model(x, call, model);
	if (callee != NULL && ir_is_external(callee) && allocates(name))
		allocated(x, call, name);
	if (model == NULL && !may_know(callee))
		return;
	pass_arguments(x, call);
	take_result(x, call);
}
