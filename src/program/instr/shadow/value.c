/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes references for instructions that compute, access memory or branch.  It inserts the hooks
 * that make the reference of an instruction's value from the references of its operands.
 */
#include "instr/shadow/shadow.h"
#include "base/error.h"

#include "base/alloc.h"
#include "instr/scan/event.h"
#include "raddle/shadow.h"

#include <stdlib.h>
#include <string.h>

/* ---- operators ---- */

static unsigned operator_of(LLVMOpcode opcode)
{
	switch (opcode) {
	case LLVMAdd: return RADDLE_EXPR_ADD;
	case LLVMSub: return RADDLE_EXPR_SUB;
	case LLVMMul: return RADDLE_EXPR_MUL;
	case LLVMUDiv: return RADDLE_EXPR_UDIV;
	case LLVMSDiv: return RADDLE_EXPR_SDIV;
	case LLVMURem: return RADDLE_EXPR_UREM;
	case LLVMSRem: return RADDLE_EXPR_SREM;
	case LLVMAnd: return RADDLE_EXPR_AND;
	case LLVMOr: return RADDLE_EXPR_OR;
	case LLVMXor: return RADDLE_EXPR_XOR;
	case LLVMShl: return RADDLE_EXPR_SHL;
	case LLVMLShr: return RADDLE_EXPR_LSHR;
	case LLVMAShr: return RADDLE_EXPR_ASHR;
	default: return 0;
	}
}

/* A predicate of LLVM, expressed as a comparison of raddle/shadow.h.  The operands may have to be
 * swapped, and the result negated. */
struct predicate {
	unsigned op;
	bool swapped, negated;
};

static struct predicate predicate_of(LLVMIntPredicate p)
{
	switch (p) {
	case LLVMIntEQ: return (struct predicate){RADDLE_EXPR_EQ, false, false};
	case LLVMIntNE: return (struct predicate){RADDLE_EXPR_EQ, false, true};
	case LLVMIntULT: return (struct predicate){RADDLE_EXPR_ULT, false, false};
	case LLVMIntULE: return (struct predicate){RADDLE_EXPR_ULE, false, false};
	case LLVMIntUGT: return (struct predicate){RADDLE_EXPR_ULT, true, false};
	case LLVMIntUGE: return (struct predicate){RADDLE_EXPR_ULE, true, false};
	case LLVMIntSLT: return (struct predicate){RADDLE_EXPR_SLT, false, false};
	case LLVMIntSLE: return (struct predicate){RADDLE_EXPR_SLE, false, false};
	case LLVMIntSGT: return (struct predicate){RADDLE_EXPR_SLT, true, false};
	default: return (struct predicate){RADDLE_EXPR_SLE, true, false};
	}
}

bool shadow_passes_on(LLVMValueRef inst)
{
	bool swapped;
	switch (LLVMGetInstructionOpcode(inst)) {
	case LLVMPHI:
	case LLVMICmp:
	case LLVMSelect:
	case LLVMTrunc:
	case LLVMZExt:
	case LLVMSExt:
	case LLVMPtrToInt:
	case LLVMIntToPtr:
	case LLVMFreeze:
	case LLVMGetElementPtr: return true;
	case LLVMCall: return shadow_choice(inst, &swapped) != 0;
	default: return operator_of(LLVMGetInstructionOpcode(inst)) != 0;
	}
}

/* Returns the size in bytes of a number that is loaded or stored and can have an expression, or 0
 * for other types. */
static unsigned access_size(const struct instr_unit *u, LLVMTypeRef type)
{
	unsigned bits = shadow_bits(u, type);
	return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? bits / 8 : 0;
}

bool shadow_is_source(const struct shadow_function *x, LLVMValueRef inst)
{
	LLVMTypeRef type = LLVMTypeOf(inst);
	switch (LLVMGetInstructionOpcode(inst)) {
	case LLVMLoad:
	case LLVMAtomicRMW: return access_size(x->u, type) != 0;
	case LLVMCall:
	case LLVMInvoke: return shadow_call_is_source(x, inst);
	default: return false;
	}
}

static LLVMValueRef binary(struct shadow_function *x, unsigned what, LLVMValueRef a, LLVMValueRef b)
{
	RD_ASSERT((what & 0xff) != 0 && LLVMTypeOf(a) == LLVMTypeOf(b));
	LLVMValueRef arguments[] = {shadow_i32(x, what), shadow_ref(x, a), shadow_ref(x, b),
				    shadow_word(x, a), shadow_word(x, b)};
	return instr_hook_call(x->u, HOOK_SX_BIN, arguments);
}

static LLVMValueRef compare(struct shadow_function *x, LLVMValueRef inst)
{
	LLVMValueRef a = LLVMGetOperand(inst, 0), b = LLVMGetOperand(inst, 1), ref;
	struct predicate p = predicate_of(LLVMGetICmpPredicate(inst));
	unsigned bits = shadow_bits(x->u, LLVMTypeOf(a));
	ref = binary(x, p.op << 8 | bits, p.swapped ? b : a, p.swapped ? a : b);
	if (!p.negated)
		return ref;
	LLVMValueRef arguments[] = {shadow_i32(x, RADDLE_EXPR_XOR << 8 | 1), ref, shadow_i32(x, 0),
				    shadow_i64(x, 0), shadow_i64(x, 1)};
	return instr_hook_call(x->u, HOOK_SX_BIN, arguments);
}

static LLVMValueRef cast(struct shadow_function *x, LLVMValueRef inst)
{
	LLVMValueRef a = LLVMGetOperand(inst, 0);
	unsigned to = shadow_bits(x->u, LLVMTypeOf(inst)), from = shadow_bits(x->u, LLVMTypeOf(a));
	RD_ASSERT(to != 0 && from != 0);
	unsigned op = to < from					   ? RADDLE_EXPR_EXTRACT
		      : LLVMGetInstructionOpcode(inst) == LLVMSExt ? RADDLE_EXPR_SEXT
								   : RADDLE_EXPR_ZEXT;
	if (to == from)
		return shadow_ref(x, a);
	LLVMValueRef arguments[] = {shadow_i32(x, op << 8 | to), shadow_ref(x, a), shadow_i32(x, from)};
	return instr_hook_call(x->u, HOOK_SX_CAST, arguments);
}

/* Makes the reference for a choice between the values `a` and `b`.  `ref` is the reference of the
 * condition. */
static LLVMValueRef choose(struct shadow_function *x, LLVMValueRef condition, LLVMValueRef ref,
			   LLVMValueRef a, LLVMValueRef b)
{
	LLVMBuilderRef builder = x->u->builder;
	unsigned bits = shadow_bits(x->u, LLVMTypeOf(a));
	LLVMValueRef what = LLVMBuildShl(builder, LLVMBuildZExt(builder, condition, x->u->i32, ""),
					 shadow_i32(x, 31), "");
	LLVMValueRef high = LLVMBuildShl(builder, LLVMBuildZExt(builder, shadow_ref(x, a), x->u->i64, ""),
					 shadow_i64(x, 32), "");
	LLVMValueRef refs =
		LLVMBuildOr(builder, high, LLVMBuildZExt(builder, shadow_ref(x, b), x->u->i64, ""), "");
	LLVMValueRef arguments[] = {LLVMBuildOr(builder, what, shadow_i32(x, bits), ""), ref, refs,
				    shadow_word(x, a), shadow_word(x, b)};
	return instr_hook_call(x->u, HOOK_SX_CHOOSE, arguments);
}

/* Makes the reference of the smaller or larger of two values. */
static LLVMValueRef extreme(struct shadow_function *x, LLVMValueRef call)
{
	LLVMValueRef a = LLVMGetArgOperand(call, 0), b = LLVMGetArgOperand(call, 1), ref, first;
	unsigned bits = shadow_bits(x->u, LLVMTypeOf(a));
	bool swapped;
	unsigned op = shadow_choice(call, &swapped);
	ref = binary(x, op << 8 | bits, swapped ? b : a, swapped ? a : b);
	first = LLVMBuildICmp(x->u->builder, op == RADDLE_EXPR_ULT ? LLVMIntULT : LLVMIntSLT, swapped ? b : a,
			      swapped ? a : b, "");
	return choose(x, first, ref, a, b);
}

/* ---- addresses ---- */

struct address {
	LLVMValueRef ref, value;
};

/* Adds index * size to the address. */
static void add_index(struct shadow_function *x, struct address *at, LLVMValueRef index, uint64_t size)
{
	LLVMBuilderRef b = x->u->builder;
	unsigned bits = shadow_bits(x->u, LLVMTypeOf(index));
	LLVMValueRef wide = LLVMBuildIntCast2(b, index, x->u->i64, true, "");
	at->ref = instr_hook_call(x->u, HOOK_SX_INDEX,
				  (LLVMValueRef[]){shadow_i64(x, size << 8 | bits), at->ref,
						   shadow_ref(x, index), at->value, shadow_word(x, index)});
	at->value = LLVMBuildAdd(b, at->value, LLVMBuildMul(b, wide, shadow_i64(x, size), ""), "");
}

static LLVMValueRef address(struct shadow_function *x, LLVMValueRef gep)
{
	LLVMValueRef base = LLVMGetOperand(gep, 0);
	struct address at = {shadow_ref(x, base), shadow_word(x, base)};
	struct ir_gep g = {.gep = gep};
	while (ir_gep_next(&g)) {
		if (g.field) {
			uint64_t offset = LLVMOffsetOfElement(x->u->layout, g.type,
							      (unsigned)LLVMConstIntGetZExtValue(g.index));
			add_index(x, &at, shadow_i64(x, offset), 1);
		} else {
			add_index(x, &at, g.index, LLVMABISizeOfType(x->u->layout, g.type));
		}
	}
	return at.ref;
}

/* ---- memory ---- */

static void load(struct shadow_function *x, LLVMValueRef inst)
{
	LLVMValueRef pointer = LLVMGetOperand(inst, 0), flag = shadow_loop_flag(x, inst);
	shadow_at(x, LLVMGetNextInstruction(inst));
	LLVMValueRef arguments[] = {pointer, shadow_i32(x, access_size(x->u, LLVMTypeOf(inst))),
				    shadow_ref(x, pointer), flag};
	shadow_set_ref(x, inst,
		       instr_hook_call(x->u, flag != NULL ? HOOK_SX_LOAD_IN : HOOK_SX_LOAD, arguments));
}

static void store(struct shadow_function *x, LLVMValueRef inst)
{
	LLVMValueRef value = LLVMGetOperand(inst, 0), pointer = LLVMGetOperand(inst, 1);
	LLVMValueRef flag = shadow_loop_flag(x, inst);
	unsigned size = access_size(x->u, LLVMTypeOf(value));
	uint64_t bytes = LLVMStoreSizeOfType(x->u->layout, LLVMTypeOf(value));
	shadow_at(x, LLVMGetNextInstruction(inst));
	if (size != 0 || bytes == 4 || bytes == 8) {
		LLVMValueRef none = shadow_i32(x, 0);
		LLVMValueRef arguments[] = {pointer, shadow_i32(x, bytes),
					    size != 0 ? shadow_ref(x, value) : none,
					    size != 0 ? shadow_ref(x, pointer) : none, flag};
		instr_hook_call(x->u, flag != NULL ? HOOK_SX_STORE_IN : HOOK_SX_STORE, arguments);
	} else if (bytes > 0 && bytes <= 4096) {
		instr_hook_call(x->u, HOOK_SX_FRESH, (LLVMValueRef[]){pointer, shadow_i64(x, bytes)});
	}
}

/* Returns the operation by which an atomic update computes the value that it stores.  Returns 0
 * for an exchange, and for an operation whose result is treated as concrete. */
static unsigned update_of(LLVMAtomicRMWBinOp op)
{
	switch (op) {
	case LLVMAtomicRMWBinOpAdd: return RADDLE_EXPR_ADD;
	case LLVMAtomicRMWBinOpSub: return RADDLE_EXPR_SUB;
	case LLVMAtomicRMWBinOpAnd: return RADDLE_EXPR_AND;
	case LLVMAtomicRMWBinOpOr: return RADDLE_EXPR_OR;
	case LLVMAtomicRMWBinOpXor: return RADDLE_EXPR_XOR;
	default: return 0;
	}
}

/* Handles an atomic update.  Loads the reference of the old value before the update, and stores
 * the reference of the new value after it. */
static void update(struct shadow_function *x, LLVMValueRef inst)
{
	LLVMValueRef pointer = LLVMGetOperand(inst, 0), by = LLVMGetOperand(inst, 1), size, old, made;
	unsigned bytes = access_size(x->u, LLVMTypeOf(by)), op = update_of(LLVMGetAtomicRMWBinOp(inst));
	if (bytes == 0)
		return;
	size = shadow_i32(x, bytes);
	shadow_at(x, inst);
	old = instr_hook_call(x->u, HOOK_SX_LOAD, (LLVMValueRef[]){pointer, size, shadow_i32(x, 0)});
	shadow_set_ref(x, inst, old);
	shadow_at(x, LLVMGetNextInstruction(inst));
	made = shadow_i32(x, 0);
	if (LLVMGetAtomicRMWBinOp(inst) == LLVMAtomicRMWBinOpXchg)
		made = shadow_ref(x, by);
	else if (op != 0)
		made = binary(x, op << 8 | bytes * 8, inst, by);
	instr_hook_call(x->u, HOOK_SX_STORE, (LLVMValueRef[]){pointer, size, made, shadow_i32(x, 0)});
}

static void compare_exchange(struct shadow_function *x, LLVMValueRef inst)
{
	LLVMValueRef pointer = LLVMGetOperand(inst, 0);
	uint64_t bytes = LLVMStoreSizeOfType(x->u->layout, LLVMTypeOf(LLVMGetOperand(inst, 1)));
	shadow_at(x, LLVMGetNextInstruction(inst));
	instr_hook_call(x->u, HOOK_SX_FRESH, (LLVMValueRef[]){pointer, shadow_i64(x, bytes)});
}

/* ---- branches ---- */

static void branch(struct shadow_function *x, LLVMValueRef inst)
{
	LLVMValueRef condition;
	if (!LLVMIsConditional(inst))
		return;
	condition = LLVMGetCondition(inst);
	if (!shadow_may(x, condition))
		return;
	shadow_at(x, inst);
	LLVMValueRef arguments[] = {shadow_i32(x, (*x->site)++), shadow_ref(x, condition),
				    LLVMBuildZExt(x->u->builder, condition, x->u->i32, "")};
	instr_hook_call(x->u, HOOK_SX_BRANCH, arguments);
}

static LLVMValueRef table_of_cases(struct shadow_function *x, LLVMValueRef inst, unsigned *count)
{
	unsigned n = LLVMGetNumSuccessors(inst) - 1;
	LLVMValueRef *values = rd_xcalloc(n + 1, sizeof *values), table, list;
	for (unsigned i = 0; i < n; i++)
		values[i] = shadow_i64(x, LLVMConstIntGetZExtValue(LLVMGetOperand(inst, 2 + 2 * i)));
	list = LLVMConstArray2(x->u->i64, values, n);
	table = LLVMAddGlobal(x->u->module, LLVMTypeOf(list), "__raddle_cases");
	LLVMSetInitializer(table, list);
	LLVMSetLinkage(table, LLVMPrivateLinkage);
	LLVMSetGlobalConstant(table, true);
	free(values);
	*count = n;
	return table;
}

static void cases(struct shadow_function *x, LLVMValueRef inst)
{
	LLVMValueRef value = LLVMGetOperand(inst, 0), table;
	unsigned bits = shadow_bits(x->u, LLVMTypeOf(value)), count;
	if (!shadow_may(x, value) || LLVMGetNumSuccessors(inst) < 2)
		return;
	shadow_at(x, inst);
	table = table_of_cases(x, inst, &count);
	instr_hook_call(x->u, HOOK_SX_SWITCH,
			(LLVMValueRef[]){shadow_i32(x, count << 8 | bits), shadow_i32(x, *x->site),
					 shadow_ref(x, value), shadow_word(x, value), table});
	*x->site += count + 1;
}

/* ---- one instruction ---- */

/* Makes the reference of a value that is computed from other values.  Returns NULL if the value is
 * concrete. */
static LLVMValueRef made(struct shadow_function *x, LLVMValueRef inst)
{
	LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
	LLVMValueRef a = LLVMGetOperand(inst, 0);
	unsigned op = operator_of(opcode);
	if (op != 0)
		return binary(x, op << 8 | shadow_bits(x->u, LLVMTypeOf(inst)), a, LLVMGetOperand(inst, 1));
	switch (opcode) {
	case LLVMICmp: return shadow_bits(x->u, LLVMTypeOf(a)) != 0 ? compare(x, inst) : NULL;
	case LLVMSelect:
		return shadow_bits(x->u, LLVMTypeOf(a)) == 1
			       ? choose(x, a, shadow_ref(x, a), LLVMGetOperand(inst, 1),
					LLVMGetOperand(inst, 2))
			       : NULL;
	case LLVMTrunc:
	case LLVMZExt:
	case LLVMSExt:
	case LLVMPtrToInt:
	case LLVMIntToPtr:
	case LLVMFreeze: return shadow_bits(x->u, LLVMTypeOf(a)) != 0 ? cast(x, inst) : NULL;
	case LLVMGetElementPtr: return address(x, inst);
	case LLVMCall: return extreme(x, inst);
	default: return NULL;
	}
}

static void compute(struct shadow_function *x, LLVMValueRef inst)
{
	LLVMValueRef ref;
	if (!shadow_may(x, inst) || LLVMIsAPHINode(inst))
		return;
	shadow_at(x, LLVMGetNextInstruction(inst));
	ref = made(x, inst);
	if (ref != NULL)
		shadow_set_ref(x, inst, ref);
}

void shadow_value(struct shadow_function *x, LLVMValueRef inst)
{
	bool swapped;
	switch (LLVMGetInstructionOpcode(inst)) {
	case LLVMLoad:
		if (shadow_may(x, inst))
			load(x, inst);
		break;
	case LLVMStore: store(x, inst); break;
	case LLVMAtomicRMW: update(x, inst); break;
	case LLVMAtomicCmpXchg: compare_exchange(x, inst); break;
	case LLVMBr: branch(x, inst); break;
	case LLVMSwitch: cases(x, inst); break;
	case LLVMRet: shadow_return(x, inst); break;
	case LLVMCall:
		if (shadow_choice(inst, &swapped) == 0) {
			shadow_call(x, inst);
			break;
		}
		compute(x, inst);
		break;
	case LLVMInvoke: shadow_call(x, inst); break;
	default:
		if (shadow_passes_on(inst))
			compute(x, inst);
	}
}
