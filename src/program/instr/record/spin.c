/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles loops that wait for memory, and loops that run forever.
 *
 * 	while (!done)
 * 		;
 *
 * If `done` is a plain variable, the optimiser may assume that no other thread writes it meanwhile.
 * So it may read the variable once, before the loop, or remove the loop.  If another thread does
 * write it, that is a race to be found.  But a recorded run that never leaves the loop shows
 * nothing that happens after it.  So the reads of such loops become volatile, which does not change
 * the meaning of the program.
 *
 * The module has hooks but is not optimised yet.  A loop waits if it has no effect and its exit
 * conditions depend only on reads of memory.  It has no effect if it writes nothing and calls only
 * hooks, intrinsics and inline assembler.  A counting loop does not wait: it ends by itself.
 *
 * If threads take turns, such a loop must let other threads run.  So must a loop without an exit,
 *
 * 	for (;;)
 * 		mine = 1;
 *
 * which the optimiser may reduce to a jump.  Loops of both kinds get a hook in each iteration.  If
 * threads stop at reads anyway, only loops without an exit get the hook.
 */
#include "instr/unit-int.h"

#include "base/alloc.h"
#include "base/map.h"
#include "instr/scan/backward-int.h"
#include "instr/scan/event.h"
#include "ir/value.h"

#include <stdlib.h>

/* Returns true if the call does not change the program's memory.  This is true of hooks, and
 * assumed of intrinsics and assembler. */
static bool is_silent_call(LLVMValueRef call)
{
	LLVMValueRef callee = ir_callee(call);

	if (callee == NULL)
		return LLVMIsAInlineAsm(LLVMGetCalledValue(call)) != NULL;
	return LLVMGetIntrinsicID(callee) != 0 || ir_starts(ir_name(callee), "__raddle_");
}

static bool leaves_trace(LLVMValueRef inst)
{
	switch (LLVMGetInstructionOpcode(inst)) {
	case LLVMStore:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
	case LLVMFence: return true;
	case LLVMLoad: return LLVMGetOrdering(inst) != LLVMAtomicOrderingNotAtomic;
	default: return ir_is_call(inst) && !is_silent_call(inst);
	}
}

static bool is_silent(const struct backward *w)
{
	for (uint32_t n = 0; n < w->loop->size; n++)
		for (LLVMValueRef i = LLVMGetFirstInstruction(w->cfg->blocks[w->loop->body[n]]); i != NULL;
		     i = LLVMGetNextInstruction(i))
			if (leaves_trace(i))
				return false;
	return true;
}

/* Returns true if the loop carries the value from one iteration to the next.  Such a value is a
 * PHI of the loop's header.  A PHI of another block only chooses between values of the same
 * iteration. */
static bool is_carried(const struct backward *w, LLVMValueRef v)
{
	return LLVMGetInstructionOpcode(v) == LLVMPHI &&
	       LLVMGetInstructionParent(v) == w->cfg->blocks[w->loop->header];
}

/* Follows the branches that decide how the loop continues.  Returns false if they depend on
 * anything but memory. */
static bool follow(struct backward *w)
{
	for (uint32_t n = 0; n < w->loop->size; n++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(w->cfg->blocks[w->loop->body[n]]);

		for (int i = 0; i < LLVMGetNumOperands(end); i++)
			backward_want(w, LLVMGetOperand(end, (unsigned)i));
	}
	for (size_t at = 0; at < w->count; at++) {
		if (is_carried(w, w->work[at]) || ir_is_call(w->work[at]))
			return false;
		for (int i = 0; i < LLVMGetNumOperands(w->work[at]); i++)
			backward_want(w, LLVMGetOperand(w->work[at], (unsigned)i));
	}
	return true;
}

/* Returns true if control stays in the loop after this block: the block has no successor outside
 * the loop, and calls nothing that could end the thread. */
static bool stays(const struct backward *w, uint32_t block)
{
	const struct facts_graph *g = &w->cfg->graph;

	if (g->succ_start[block] == g->succ_start[block + 1])
		return false;
	for (uint32_t e = g->succ_start[block]; e < g->succ_start[block + 1]; e++)
		if (!facts_loop_has(w->loop, g->succ[e]))
			return false;
	for (LLVMValueRef i = LLVMGetFirstInstruction(w->cfg->blocks[block]); i != NULL;
	     i = LLVMGetNextInstruction(i))
		if (ir_is_call(i) && !is_silent_call(i))
			return false;
	return true;
}

static bool is_endless(const struct backward *w)
{
	for (uint32_t n = 0; n < w->loop->size; n++)
		if (!stays(w, w->loop->body[n]))
			return false;
	return true;
}

static void add_round(struct instr_unit *u, const struct backward *w)
{
	LLVMValueRef at = LLVMGetFirstInstruction(w->cfg->blocks[w->loop->header]);

	while (LLVMIsAPHINode(at))
		at = LLVMGetNextInstruction(at);
	LLVMPositionBuilderBefore(u->builder, at);
	instr_hook_call(u, HOOK_ROUND, NULL);
}

static void look_at_loop(struct instr_unit *u, const struct ir_cfg *cfg, const struct facts_loop *loop)
{
	struct backward w = {.cfg = cfg, .loop = loop};
	bool waits = !u->stops && is_silent(&w) && follow(&w);

	for (size_t i = 0; i < w.count && waits; i++)
		if (LLVMGetInstructionOpcode(w.work[i]) == LLVMLoad)
			LLVMSetVolatile(w.work[i], 1);
	if (waits || is_endless(&w))
		add_round(u, &w);
	backward_release(&w);
}

void instr_each_loop(struct instr_unit *u, instr_loop_fn *look)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f)) {
		struct ir_cfg cfg;
		struct facts_loops loops;

		if (LLVMIsDeclaration(f))
			continue;
		ir_cfg_init(&cfg, f);
		facts_graph_dominators(&cfg.graph);
		facts_loops_init(&loops, &cfg.graph);
		for (size_t i = 0; i < loops.count; i++)
			look(u, &cfg, &loops.items[i]);
		facts_loops_release(&loops);
		ir_cfg_release(&cfg);
	}
}

void instr_keep_waiting(struct instr_unit *u)
{
	instr_each_loop(u, look_at_loop);
}
