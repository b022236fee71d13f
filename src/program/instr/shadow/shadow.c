/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flavour `shadow` is the flavour `record` with expressions for values that depend on the
 * program's input.
 *
 * The hooks of `record` are inserted first, so sites have the same numbers as in every flavour.
 * Then the code is optimised, but not vectorised, and switches are not turned into tables.
 * References are added to values only after that, so code that the optimiser has removed costs
 * nothing.  Loops are duplicated, and the copy for concrete values is then vectorised (loop.c).
 * Values that cannot depend on input have no reference at all: constants, addresses of variables,
 * pointers loaded from memory, and floating-point numbers.
 */
#include "instr/shadow/shadow.h"
#include "base/error.h"

#include "base/alloc.h"
#include "instr/scan/event.h"

#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>
#include <string.h>

int instr_shadow(struct instr_unit *u)
{
	return instr_record(u);
}

/* ---- values ---- */

unsigned shadow_bits(const struct instr_unit *u, LLVMTypeRef type)
{
	unsigned bits;
	(void)u;
	if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
		return 64;
	if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind)
		return 0;
	bits = LLVMGetIntTypeWidth(type);
	return bits <= 64 ? bits : 0;
}

bool shadow_may(const struct shadow_function *x, LLVMValueRef v)
{
	return rd_umap_get(&x->may, (uintptr_t)v) != NULL;
}

LLVMValueRef shadow_i32(const struct shadow_function *x, uint64_t n)
{
	return LLVMConstInt(x->u->i32, n, false);
}

LLVMValueRef shadow_i64(const struct shadow_function *x, uint64_t n)
{
	return LLVMConstInt(x->u->i64, n, false);
}

LLVMValueRef shadow_ref(const struct shadow_function *x, LLVMValueRef v)
{
	const uint64_t *ref = rd_umap_get(&x->refs, (uintptr_t)v);
	if (ref == NULL || *ref == 0)
		return shadow_i32(x, 0);
	return shadow_loop_ref(x, v, (LLVMValueRef)(uintptr_t)*ref);
}

void shadow_set_ref(struct shadow_function *x, LLVMValueRef v, LLVMValueRef ref)
{
	*rd_umap_put(&x->refs, (uintptr_t)v, NULL) = (uintptr_t)ref;
}

LLVMValueRef shadow_word(struct shadow_function *x, LLVMValueRef v)
{
	if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind)
		return LLVMBuildPtrToInt(x->u->builder, v, x->u->i64, "");
	return LLVMBuildIntCast2(x->u->builder, v, x->u->i64, false, "");
}

void shadow_at(struct shadow_function *x, LLVMValueRef inst)
{
	LLVMPositionBuilderBefore(x->u->builder, inst);
	LLVMSetCurrentDebugLocation2(x->u->builder, NULL);
}

/* ---- values that may depend on input ---- */

static bool operand_may(const struct shadow_function *x, LLVMValueRef inst)
{
	int n = LLVMGetNumOperands(inst);
	for (int i = 0; i < n; i++)
		if (shadow_may(x, LLVMGetOperand(inst, (unsigned)i)))
			return true;
	return false;
}

static bool is_new(const struct shadow_function *x, LLVMValueRef inst)
{
	if (shadow_bits(x->u, LLVMTypeOf(inst)) == 0 || shadow_may(x, inst))
		return false;
	return shadow_is_source(x, inst) || (shadow_passes_on(inst) && operand_may(x, inst));
}

static bool spread(struct shadow_function *x)
{
	bool changed = false;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(x->function); b != NULL;
	     b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i))
			if (is_new(x, i)) {
				rd_umap_put(&x->may, (uintptr_t)i, NULL);
				changed = true;
			}
	return changed;
}

/* ---- references that are needed ---- */

/* Returns true if an instruction needs the reference of an operand.  An instruction that passes
 * the reference on needs it only if its own reference is needed.  The hooks of `record` and their
 * arguments need no references. */
static bool asks(const struct instr_unit *u, LLVMValueRef inst, const struct rd_umap *wanted)
{
	LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
	if (shadow_passes_on(inst) || opcode == LLVMLoad)
		return rd_umap_get(wanted, (uintptr_t)inst) != NULL;
	if (opcode == LLVMStore)
		return shadow_bits(u, LLVMTypeOf(LLVMGetOperand(inst, 0))) != 0;
	if (opcode == LLVMCall)
		return ir_callee(inst) == NULL || !ir_starts(ir_name(ir_callee(inst)), "__raddle_");
	return true;
}

/* Drops references that are not used.  Examples are the references of values that are only
 * converted to floating-point numbers, and of values that hooks of `record` compute after they
 * were moved out of loops. */
static void keep_wanted(struct shadow_function *x)
{
	struct rd_umap wanted = {0};
	bool changed = true;
	while (changed) {
		changed = false;
		for (LLVMBasicBlockRef b = LLVMGetLastBasicBlock(x->function); b != NULL;
		     b = LLVMGetPreviousBasicBlock(b))
			for (LLVMValueRef i = LLVMGetLastInstruction(b); i != NULL;
			     i = LLVMGetPreviousInstruction(i)) {
				int n = asks(x->u, i, &wanted) ? LLVMGetNumOperands(i) : 0;
				for (int k = 0; k < n; k++) {
					LLVMValueRef v = LLVMGetOperand(i, (unsigned)k);
					bool added = false;
					if (shadow_may(x, v))
						rd_umap_put(&wanted, (uintptr_t)v, &added);
					changed |= added;
				}
			}
	}
	rd_umap_release(&x->may);
	x->may = wanted;
}

/* ---- a function ---- */

struct list {
	LLVMValueRef *items;
	size_t count, capacity;
};

/* Lists the instructions before any of them is changed.  Operands precede their users, except the
 * operands of phis. */
static void list_instructions(struct shadow_function *x, struct list *list)
{
	struct ir_cfg cfg;
	ir_cfg_init(&cfg, x->function);
	for (uint32_t k = 0; k < cfg.graph.reached; k++)
		for (LLVMValueRef i = LLVMGetFirstInstruction(cfg.blocks[cfg.graph.order[k]]); i != NULL;
		     i = LLVMGetNextInstruction(i)) {
			RD_GROW(list->items, list->capacity, list->count + 1);
			list->items[list->count++] = i;
		}
	ir_cfg_release(&cfg);
}

static void make_phi(struct shadow_function *x, LLVMValueRef phi)
{
	RD_ASSERT(LLVMIsAPHINode(phi) && shadow_bits(x->u, LLVMTypeOf(phi)) != 0);
	LLVMPositionBuilderBefore(x->u->builder, LLVMGetFirstInstruction(LLVMGetInstructionParent(phi)));
	shadow_set_ref(x, phi, LLVMBuildPhi(x->u->builder, x->u->i32, ""));
}

static void fill_phi(struct shadow_function *x, LLVMValueRef phi)
{
	shadow_loop_at(x, NULL);
	LLVMValueRef ref = shadow_ref(x, phi);
	RD_ASSERT(LLVMIsAPHINode(ref));
	unsigned n = LLVMCountIncoming(phi);
	for (unsigned i = 0; i < n; i++) {
		LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
		shadow_loop_at(x, from);
		shadow_at(x, LLVMGetBasicBlockTerminator(from));
		LLVMValueRef value = shadow_ref(x, LLVMGetIncomingValue(phi, i));
		LLVMAddIncoming(ref, &value, &from, 1);
	}
}

static void follow(struct instr_unit *u, LLVMValueRef function, uint32_t *site)
{
	struct shadow_function x = {.u = u, .function = function, .site = site};
	struct list list = {0};
	for (unsigned i = 0; i < LLVMCountParams(function); i++)
		if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(function, i))) == LLVMIntegerTypeKind &&
		    shadow_bits(u, LLVMTypeOf(LLVMGetParam(function, i))) != 0)
			rd_umap_put(&x.may, (uintptr_t)LLVMGetParam(function, i), NULL);
	while (spread(&x))
		;
	keep_wanted(&x);
	list_instructions(&x, &list);
	if (u->options->fast)
		shadow_loops_find(&x);
	for (size_t i = 0; i < list.count; i++)
		if (LLVMIsAPHINode(list.items[i]) && shadow_may(&x, list.items[i]))
			make_phi(&x, list.items[i]);
	shadow_entry(&x);
	for (size_t i = 0; i < list.count; i++) {
		shadow_loop_at(&x, LLVMGetInstructionParent(list.items[i]));
		shadow_value(&x, list.items[i]);
		shadow_loop_enter(&x, list.items[i]);
	}
	for (size_t i = 0; i < list.count; i++)
		if (LLVMIsAPHINode(list.items[i]) && shadow_may(&x, list.items[i]))
			fill_phi(&x, list.items[i]);
	free(list.items);
	shadow_loops_release(&x);
	RD_UMAP_RELEASE(&x.may, &x.refs);
}

/* ---- the unit ---- */

static uint32_t hash_name(const char *name)
{
	uint32_t h = 2166136261u;
	while (*name != 0)
		h = (h ^ (uint8_t)*name++) * 16777619u;
	return h;
}

static void follow_unit(struct instr_unit *u)
{
	struct ir_effects *effects = ir_effects_new(u->module);
	uint32_t site = hash_name(u->name);
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f))
		if (LLVMGetIntrinsicID(f) == 0 && !LLVMIsDeclaration(f) && instr_is_instrumented(effects, f))
			follow(u, f, &site);
	ir_effects_free(effects);
}

/* Disables two optimisations.  A switch that became a table would hide its cases.  And if a null
 * pointer is certainly used on a branch, the optimiser would assume that the branch is never
 * taken, although the branch matters here. */
static void forbid_tricks(struct instr_unit *u)
{
	static const char name[] = "no-jump-tables", value[] = "true", null[] = "null_pointer_is_valid";
	unsigned kind = LLVMGetEnumAttributeKindForName(null, sizeof null - 1);
	LLVMAttributeRef a =
		LLVMCreateStringAttribute(u->context, name, sizeof name - 1, value, sizeof value - 1);
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f)) {
			LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, a);
			LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
						LLVMCreateEnumAttribute(u->context, kind, 0));
		}
}

int instr_shadow_generate(struct instr_unit *u)
{
	static const char optimise[] = "function(early-cse),default<O2>";
	static const char clean_up[] =
		"function(early-cse,loop(simple-loop-unswitch<nontrivial>),loop-mssa(licm),"
		"instcombine<no-verify-fixpoint>,simplifycfg,jump-threading,gvn,dse,simplifycfg,"
		"loop-vectorize,slp-vectorizer,instcombine<no-verify-fixpoint>,simplifycfg)";
	int code = instr_unit_verify(u);
	forbid_tricks(u);
	if (code == 0)
		instr_keep_waiting(u);
	if (code == 0 && u->options->fast)
		code = instr_unit_scalar_passes(u, optimise);
	instr_unit_step(u, "optimise");
	if (code == 0 && u->options->fast) {
		instr_late(u);
		code = instr_unit_verify(u);
	}
	if (code == 0) {
		instr_hook_refresh(u);
		follow_unit(u);
		code = instr_unit_verify(u);
	}
	instr_unit_step(u, "follow");
	return code ? code : instr_unit_finish(u, clean_up);
}
