/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flavour `full`.  Changes a module so that it records what it executes, and writes its sites
 * and pieces to the unit's table.
 *
 * Lifetime markers of stack variables are removed first.  With them, two variables of one call
 * could share an address.
 */
#include "instr/full/full.h"

#include "base/alloc.h"

#include <stdlib.h>

static bool is_lifetime(LLVMValueRef inst)
{
	if (LLVMGetInstructionOpcode(inst) != LLVMCall)
		return false;
	LLVMValueRef callee = ir_callee(inst);
	return callee != NULL && ir_starts(ir_name(callee), "llvm.lifetime.");
}

static void drop_lifetimes(LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i != NULL; i = next) {
			next = LLVMGetNextInstruction(i);
			if (is_lifetime(i))
				LLVMInstructionEraseFromParent(i);
		}
}

/* Replaces undefined operands by 0, and removes stores of undefined values.  Such values, for
 * example the padding of structures, differ from run to run. */
static void settle(LLVMValueRef inst)
{
	int n = LLVMGetNumOperands(inst);
	if (LLVMIsAStoreInst(inst) && LLVMIsUndef(LLVMGetOperand(inst, 0))) {
		LLVMInstructionEraseFromParent(inst);
		return;
	}
	for (int i = 0; i < n; i++) {
		LLVMValueRef v = LLVMGetOperand(inst, (unsigned)i);
		if (LLVMIsUndef(v) && LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMMetadataTypeKind)
			LLVMSetOperand(inst, (unsigned)i, LLVMConstNull(LLVMTypeOf(v)));
	}
}

static void settle_undefined(LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i != NULL; i = next) {
			next = LLVMGetNextInstruction(i);
			settle(i);
		}
}

static void release(struct full_function *x)
{
	for (uint32_t b = 0; b < x->f->cfg.graph.nodes; b++)
		rd_buf_release(&x->blocks[b].ops);
	for (size_t i = 0; i < x->piece_count; i++)
		rd_buf_release(&x->pieces[i].ops);
	free(x->blocks);
	free(x->pieces);
}

static void instrument_function(struct instr_function *f)
{
	struct full_function x = {.f = f, .u = f->unit};
	drop_lifetimes(f->function);
	settle_undefined(f->function);
	ir_cfg_init(&f->cfg, f->function);
	ir_debug_function(f->unit->sites.debug, f->function);
	instr_scan(f);
	x.blocks = rd_xcalloc(f->cfg.graph.nodes + 1, sizeof *x.blocks);
	for (uint32_t b = 0; b < f->cfg.graph.nodes; b++)
		x.blocks[b].ops = (struct rd_buf)RD_BUF_INIT;
	instr_full_walk(&x);
	full_inject_finish(&x);
	full_rows(&x);
	for (size_t i = 0; i < f->count; i++)
		if (f->events[i].kind == EVENT_CALL)
			instr_drop_call_promises(f->events[i].inst);
	release(&x);
	ir_cfg_release(&f->cfg);
}

int instr_full(struct instr_unit *u)
{
	struct instr_function f = {.unit = u, .effects = ir_effects_new(u->module), .everything = true};
	for (LLVMValueRef function = LLVMGetFirstFunction(u->module); function != NULL;
	     function = LLVMGetNextFunction(function)) {
		if (LLVMGetIntrinsicID(function) != 0 || ir_starts(ir_name(function), "__raddle_"))
			continue;
		instr_drop_promises(function);
		if (!instr_is_instrumented(f.effects, function))
			continue;
		f.function = function;
		instrument_function(&f);
	}
	free(f.events);
	RD_UMAP_RELEASE(&f.private_objects, &f.wait_reads);
	ir_effects_free(f.effects);
	return 0;
}

/* Hooks are inlined before the code is optimised, because the optimiser cannot move accesses
 * across hooks anyway. */
int instr_full_generate(struct instr_unit *u)
{
	static const char optimise[] = "function(early-cse,instcombine<no-verify-fixpoint>,simplifycfg,"
				       "early-cse<memssa>,gvn,simplifycfg)";
	int code = instr_unit_verify(u);
	return code ? code : instr_unit_finish(u, optimise);
}
