/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers small questions about LLVM values, without side effects: what a pointer points into,
 * what a call calls, whether an address escapes, and what the flow graph of a function is.
 */
#include "ir/value.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

const char *ir_name(LLVMValueRef v)
{
	size_t n;
	return LLVMGetValueName2(v, &n);
}

bool ir_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool ir_is_call(LLVMValueRef inst)
{
	LLVMOpcode op = LLVMGetInstructionOpcode(inst);
	return op == LLVMCall || op == LLVMInvoke;
}

LLVMValueRef ir_callee(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	while (LLVMIsAGlobalAlias(callee))
		callee = LLVMAliasGetAliasee(callee);
	return LLVMIsAFunction(callee);
}

bool ir_is_external(LLVMValueRef function)
{
	return LLVMIsDeclaration(function) || LLVMGetLinkage(function) == LLVMAvailableExternallyLinkage;
}

bool ir_has_attribute(LLVMValueRef function, const char *name)
{
	unsigned n = strlen(name), kind = LLVMGetEnumAttributeKindForName(name, n);
	if (kind != 0 && LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind) != NULL)
		return true;
	return LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, name, n) != NULL;
}

bool ir_address_taken(LLVMValueRef function)
{
	for (LLVMUseRef u = LLVMGetFirstUse(function); u != NULL; u = LLVMGetNextUse(u)) {
		LLVMValueRef user = LLVMGetUser(u);
		if (!LLVMIsAInstruction(user) || !ir_is_call(user) || LLVMGetCalledValue(user) != function)
			return true;
		unsigned n = LLVMGetNumArgOperands(user);
		for (unsigned i = 0; i < n; i++)
			if (LLVMGetArgOperand(user, i) == function)
				return true;
	}
	return false;
}

bool ir_gep_next(struct ir_gep *g)
{
	if (++g->at >= (unsigned)LLVMGetNumOperands(g->gep))
		return false;
	g->index = LLVMGetOperand(g->gep, g->at);
	g->field = g->at > 1 && LLVMGetTypeKind(g->inner) == LLVMStructTypeKind;
	if (g->field) {
		g->type = g->inner;
		g->inner = LLVMStructGetTypeAtIndex(g->type, LLVMConstIntGetZExtValue(g->index));
	} else {
		g->inner = g->at > 1 ? LLVMGetElementType(g->inner) : LLVMGetGEPSourceElementType(g->gep);
		g->type = g->inner;
	}
	return true;
}

/* Adds up the constant indices of a GEP instruction.  Variable indices count as 0. */
static void gep_offset(LLVMTargetDataRef layout, LLVMValueRef gep, struct ir_derived *out)
{
	for (struct ir_gep g = {.gep = gep}; ir_gep_next(&g);) {
		if (g.field) {
			out->offset += LLVMOffsetOfElement(layout, g.type, LLVMConstIntGetZExtValue(g.index));
		} else if (!LLVMIsAConstantInt(g.index)) {
			out->constant = false;
			if (g.at == 1)
				out->stride = LLVMABISizeOfType(layout, g.type);
		} else if (LLVMConstIntGetSExtValue(g.index) != 0) {
			out->offset += LLVMConstIntGetSExtValue(g.index) *
				       (int64_t)LLVMABISizeOfType(layout, g.type);
		}
	}
}

static bool passes_pointer_through(LLVMValueRef call)
{
	static const char *const names[] = {"llvm.threadlocal.address", "llvm.launder.invariant.group",
					    "llvm.strip.invariant.group", "llvm.ptr.annotation"};
	LLVMValueRef callee = ir_callee(call);
	const char *name = callee != NULL ? ir_name(callee) : "";
	if (!ir_starts(name, "llvm."))
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (ir_starts(name, names[i]))
			return true;
	return false;
}

bool ir_derive(LLVMTargetDataRef layout, LLVMValueRef pointer, struct ir_derived *out)
{
	*out = (struct ir_derived){.constant = true};
	LLVMOpcode op = 0;
	if (LLVMIsAGlobalAlias(pointer)) {
		out->from = LLVMAliasGetAliasee(pointer);
		return true;
	}
	if (LLVMIsAInstruction(pointer))
		op = LLVMGetInstructionOpcode(pointer);
	else if (LLVMIsAConstantExpr(pointer))
		op = LLVMGetConstOpcode(pointer);
	switch (op) {
	case LLVMGetElementPtr:
		if (LLVMGetTypeKind(LLVMTypeOf(pointer)) == LLVMVectorTypeKind)
			return false;
		out->from = LLVMGetOperand(pointer, 0);
		if (layout != NULL)
			gep_offset(layout, pointer, out);
		return true;
	case LLVMBitCast:
	case LLVMAddrSpaceCast:
	case LLVMFreeze: out->from = LLVMGetOperand(pointer, 0); return true;
	case LLVMCall:
		if (!passes_pointer_through(pointer))
			return false;
		out->from = LLVMGetArgOperand(pointer, 0);
		return true;
	default: return false;
	}
}

LLVMValueRef ir_base(LLVMValueRef pointer)
{
	struct ir_derived derived;
	while (ir_derive(NULL, pointer, &derived))
		pointer = derived.from;
	return pointer;
}

/* What an instruction that uses an address does with it. */
enum use { USE_HARMLESS, USE_FOLLOW, USE_ESCAPE };

static bool has_attribute(LLVMValueRef call, unsigned argument, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
	return LLVMGetCallSiteEnumAttribute(call, argument + 1, kind) != NULL;
}

static enum use call_use(LLVMValueRef call, LLVMValueRef v, ir_harmless_fn *harmless, void *context)
{
	LLVMValueRef callee = ir_callee(call);
	if (LLVMGetCalledValue(call) == v)
		return USE_ESCAPE;
	if (callee != NULL && passes_pointer_through(call))
		return USE_FOLLOW;
	if (callee != NULL && ir_starts(ir_name(callee), "llvm."))
		return USE_HARMLESS;
	unsigned n = LLVMGetNumArgOperands(call);
	for (unsigned i = 0; i < n; i++) {
		if (LLVMGetArgOperand(call, i) != v)
			continue;
		if (has_attribute(call, i, "nocapture") || has_attribute(call, i, "byval"))
			continue;
		if (harmless == NULL || !harmless(context, call, i))
			return USE_ESCAPE;
	}
	return USE_HARMLESS;
}

static enum use classify_use(LLVMValueRef user, LLVMValueRef v, ir_harmless_fn *harmless, void *context)
{
	if (!LLVMIsAInstruction(user))
		return LLVMIsAConstantExpr(user) ? USE_FOLLOW : USE_ESCAPE;
	switch (LLVMGetInstructionOpcode(user)) {
	case LLVMLoad:
	case LLVMICmp: return USE_HARMLESS;
	case LLVMStore: return LLVMGetOperand(user, 0) == v ? USE_ESCAPE : USE_HARMLESS;
	case LLVMAtomicRMW: return LLVMGetOperand(user, 1) == v ? USE_ESCAPE : USE_HARMLESS;
	case LLVMAtomicCmpXchg:
		return LLVMGetOperand(user, 0) != v || LLVMGetOperand(user, 1) == v ||
				       LLVMGetOperand(user, 2) == v
			       ? USE_ESCAPE
			       : USE_HARMLESS;
	case LLVMGetElementPtr:
	case LLVMBitCast:
	case LLVMAddrSpaceCast:
	case LLVMFreeze:
	case LLVMPHI:
	case LLVMSelect: return USE_FOLLOW;
	case LLVMCall:
	case LLVMInvoke: return call_use(user, v, harmless, context);
	default: return USE_ESCAPE;
	}
}

bool ir_escapes(LLVMValueRef object, ir_harmless_fn *harmless, void *context)
{
	enum {
		/* The largest number of values that are followed per object.  If more values are
		 * derived from the object, its address counts as escaped.  The limit was set by
		 * hand, to limit the time. */
		LIMIT = 512
	};
	LLVMValueRef work[LIMIT];
	unsigned count = 1;
	work[0] = object;
	for (unsigned done = 0; done < count; done++) {
		for (LLVMUseRef u = LLVMGetFirstUse(work[done]); u != NULL; u = LLVMGetNextUse(u)) {
			LLVMValueRef user = LLVMGetUser(u);
			enum use use = classify_use(user, work[done], harmless, context);
			if (use == USE_ESCAPE)
				return true;
			if (use == USE_HARMLESS)
				continue;
			unsigned k = 0;
			while (k < count && work[k] != user)
				k++;
			if (k < count)
				continue;
			if (count == LIMIT)
				return true;
			work[count++] = user;
		}
	}
	return false;
}

void ir_cfg_init(struct ir_cfg *cfg, LLVMValueRef function)
{
	RD_ASSERT(!LLVMIsDeclaration(function));
	uint32_t n = LLVMCountBasicBlocks(function);
	struct facts_edge *edges = NULL;
	size_t count = 0, capacity = 0;
	memset(cfg, 0, sizeof *cfg);
	cfg->blocks = rd_xcalloc(n + 1, sizeof *cfg->blocks);
	LLVMGetBasicBlocks(function, cfg->blocks);
	for (uint32_t i = 0; i < n; i++)
		*rd_umap_put(&cfg->index, (uintptr_t)cfg->blocks[i], NULL) = i;
	for (uint32_t i = 0; i < n; i++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(cfg->blocks[i]);
		unsigned successors = LLVMGetNumSuccessors(end);
		RD_GROW(edges, capacity, count + successors + 1);
		for (unsigned k = 0; k < successors; k++)
			edges[count++] = (struct facts_edge){i, ir_cfg_number(cfg, LLVMGetSuccessor(end, k))};
	}
	facts_graph_init(&cfg->graph, n, edges, count);
	free(edges);
}

void ir_cfg_release(struct ir_cfg *cfg)
{
	free(cfg->blocks);
	rd_umap_release(&cfg->index);
	facts_graph_release(&cfg->graph);
	memset(cfg, 0, sizeof *cfg);
}

void ir_redirect(LLVMBasicBlockRef from, LLVMBasicBlockRef old, LLVMBasicBlockRef to)
{
	RD_ASSERT(from != NULL && old != NULL && to != NULL);
	LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
	unsigned n = LLVMGetNumSuccessors(end);
	for (unsigned i = 0; i < n; i++)
		if (LLVMGetSuccessor(end, i) == old)
			LLVMSetSuccessor(end, i, to);
}

uint32_t ir_cfg_number(const struct ir_cfg *cfg, LLVMBasicBlockRef block)
{
	const uint64_t *number = rd_umap_get(&cfg->index, (uintptr_t)block);
	RD_ASSERT(number != NULL);
	return *number;
}
