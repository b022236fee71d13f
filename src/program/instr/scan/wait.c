/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the reads that decide whether a thread waits for a condition variable.
 *
 * 	while (queue->count == 0)
 * 		pthread_cond_wait(&queue->filled, &queue->lock);
 *
 * If the condition is already true, the thread never waits, and only the read of `count` shows that
 * it could have waited.  So these reads are recorded each time.
 *
 * The result is the set of a module's load instructions that decide such a loop.  The loop is the
 * innermost natural loop around the wait.  The deciding branches are those that leave the loop or
 * choose between waiting and not waiting.  Their conditions are followed backwards through the
 * loop's instructions, and into functions of the unit that compute a condition.  A C++ predicate is
 * always such a function.  If a wait is outside a loop, the last branch that can bypass it decides.
 * Some barriers work like this: they count their threads and wait once.
 */
#include "base/error.h"
#include "instr/scan/backward-int.h"
#include "instr/scan/event.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CALLS = 4 }; /* how many nested calls are followed for a condition; set by hand */

struct wait_slice {
	struct ir_effects *effects;
	struct rd_umap *reads; /* the loads found */
	struct backward from;
	int depth;
};

/* Returns the value by which a block's terminator chooses a successor. */
static LLVMValueRef condition(LLVMBasicBlockRef block)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
	if (LLVMIsABranchInst(end) && LLVMIsConditional(end))
		return LLVMGetCondition(end);
	return LLVMIsASwitchInst(end) ? LLVMGetOperand(end, 0) : NULL;
}

static void look_into(const struct wait_slice *caller, LLVMValueRef function);

static void follow(struct wait_slice *s)
{
	while (s->from.count != 0) {
		LLVMValueRef v = s->from.work[--s->from.count];
		LLVMOpcode op = LLVMGetInstructionOpcode(v);
		if (op == LLVMLoad)
			rd_umap_put(s->reads, (uintptr_t)v, NULL);
		if (ir_is_call(v) && ir_callee(v) != NULL)
			look_into(s, ir_callee(v));
		if (op == LLVMPHI)
			for (unsigned i = 0; i < LLVMCountIncoming(v); i++)
				backward_want(&s->from, condition(LLVMGetIncomingBlock(v, i)));
		for (int i = 0; i < LLVMGetNumOperands(v); i++)
			if (!LLVMValueIsBasicBlock(LLVMGetOperand(v, i)))
				backward_want(&s->from, LLVMGetOperand(v, i));
	}
}

/* Handles a function whose result is part of the condition.  All conditions and results of the
 * function are followed. */
static void look_into(const struct wait_slice *caller, LLVMValueRef function)
{
	struct wait_slice s = {
		.effects = caller->effects, .reads = caller->reads, .depth = caller->depth + 1};
	if (LLVMIsDeclaration(function) || s.depth > MAX_CALLS)
		return;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL;
	     b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
		backward_want(&s.from, condition(b));
		if (LLVMIsAReturnInst(end) && LLVMGetNumOperands(end) != 0)
			backward_want(&s.from, LLVMGetOperand(end, 0));
	}
	follow(&s);
	backward_release(&s.from);
}

/* Marks the blocks of the loop from which the wait can be reached within the same iteration. */
static bool *reaches(const struct facts_graph *g, const struct facts_loop *loop, uint32_t wait)
{
	bool *marked = rd_xcalloc(g->nodes + 1, sizeof *marked);
	uint32_t *work = rd_xcalloc(loop->size + 1, sizeof *work), count = 1;
	work[0] = wait;
	marked[wait] = true;
	while (count != 0) {
		uint32_t n = work[--count];
		if (n == loop->header)
			continue;
		for (uint32_t e = g->pred_start[n]; e < g->pred_start[n + 1]; e++) {
			uint32_t p = g->pred[e];
			if (marked[p] || !facts_loop_has(loop, p))
				continue;
			marked[p] = true;
			work[count++] = p;
		}
	}
	free(work);
	return marked;
}

static bool decides(const struct facts_graph *g, const struct facts_loop *loop, const bool *marked,
		    uint32_t block)
{
	bool waits = false, goes_on = false;
	for (uint32_t e = g->succ_start[block]; e < g->succ_start[block + 1]; e++) {
		uint32_t to = g->succ[e];
		if (!facts_loop_has(loop, to))
			return true;
		if (to != loop->header && marked[to])
			waits = true;
		else
			goes_on = true;
	}
	return waits && goes_on;
}

static void look_at_loop(struct wait_slice *s, uint32_t wait)
{
	bool *marked = reaches(&s->from.cfg->graph, s->from.loop, wait);
	for (uint32_t i = 0; i < s->from.loop->size; i++) {
		uint32_t block = s->from.loop->body[i];
		if (decides(&s->from.cfg->graph, s->from.loop, marked, block))
			backward_want(&s->from, condition(s->from.cfg->blocks[block]));
	}
	follow(s);
	free(marked);
}

/* Returns true if a path leads from a block to the wait. */
static bool leads_to(const struct facts_graph *g, uint32_t block, uint32_t wait)
{
	RD_ASSERT(block < g->nodes && wait < g->nodes);
	bool *seen = rd_xcalloc(g->nodes + 1, sizeof *seen), found = block == wait;
	uint32_t *work = rd_xcalloc(g->nodes + 1, sizeof *work), count = 1;
	work[0] = block;
	seen[block] = true;
	while (count != 0 && !found) {
		uint32_t n = work[--count];
		for (uint32_t e = g->succ_start[n]; e < g->succ_start[n + 1]; e++) {
			uint32_t to = g->succ[e];
			found |= to == wait;
			if (seen[to])
				continue;
			seen[to] = true;
			work[count++] = to;
		}
	}
	free(work);
	free(seen);
	return found;
}

static bool goes_past(const struct facts_graph *g, uint32_t block, uint32_t wait)
{
	RD_ASSERT(block < g->nodes && wait < g->nodes);
	for (uint32_t e = g->succ_start[block]; e < g->succ_start[block + 1]; e++)
		if (!leads_to(g, g->succ[e], wait))
			return true;
	return false;
}

static void look_at_branch(struct wait_slice *s, uint32_t wait)
{
	const struct facts_graph *g = &s->from.cfg->graph;
	uint32_t block = wait;
	while (g->idom[block] != FACTS_NONE && g->idom[block] != block) {
		block = g->idom[block];
		if (condition(s->from.cfg->blocks[block]) == NULL || !goes_past(g, block, wait))
			continue;
		backward_want(&s->from, condition(s->from.cfg->blocks[block]));
		break;
	}
	follow(s);
}

static void look_at_function(struct ir_effects *effects, struct rd_umap *reads, LLVMValueRef function)
{
	struct ir_cfg cfg;
	struct facts_loops loops;
	ir_cfg_init(&cfg, function);
	facts_graph_dominators(&cfg.graph);
	facts_loops_init(&loops, &cfg.graph);
	for (uint32_t b = 0; b < cfg.graph.nodes; b++) {
		bool waits = false;
		for (LLVMValueRef i = LLVMGetFirstInstruction(cfg.blocks[b]); i != NULL && !waits;
		     i = LLVMGetNextInstruction(i))
			waits = ir_is_call(i) && ir_effects_waits(effects, i);
		if (!waits)
			continue;
		struct wait_slice s = {.effects = effects, .reads = reads, .from.cfg = &cfg};
		if (loops.innermost[b] != FACTS_NONE) {
			s.from.loop = &loops.items[loops.innermost[b]];
			look_at_loop(&s, b);
		} else {
			look_at_branch(&s, b);
		}
		backward_release(&s.from);
	}
	facts_loops_release(&loops);
	ir_cfg_release(&cfg);
}

void instr_find_wait_reads(LLVMModuleRef module, struct ir_effects *effects, struct rd_umap *reads)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f) && ir_effects_has_wait(effects, f))
			look_at_function(effects, reads, f);
}
