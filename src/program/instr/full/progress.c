/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distinguishes loops that only wait from loops that get closer to their end (rt/steer/spin.c).
 *
 *	while (!stop)			for (int i = 0; i < 100 && !ready; i++)
 *		polls++;			usleep(1);
 *
 * Only another thread can end the first loop, although it changes memory in each iteration.  The
 * second loop ends by itself, although the memory that it reads stays the same.
 *
 * full_is_idle() finds accesses like those of `polls++`: nothing but later values of memory depends
 * on what they read or write.  If the thread ever uses such a value in another way, it reads it by
 * an access that is not idle.
 *
 * instr_mark_progress() adds a hook where a loop changes a value that it carries itself and on which
 * its exits depend, like `i`.  Counters in memory need no hook, since the runtime sees them change.
 * Loops in which each access has another address than in the iteration before get no hook, either: the
 * runtime sees that, too.
 */
#include "instr/full/full.h"

#include "base/alloc.h"
#include "instr/scan/backward-int.h"
#include "ir/value.h"

#include <stdlib.h>

/* The depth to which uses of a value are followed. */
enum { USES_DEPTH = 8 };

/* ---- idle accesses ---- */

/* Returns true if the value is used for nothing but to compute values that are stored. */
static bool is_only_stored(LLVMValueRef value, unsigned depth)
{
	for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) == value &&
		    LLVMGetOperand(user, 1) != value)
			continue;
		if ((!LLVMIsABinaryOperator(user) && !LLVMIsACastInst(user) && !LLVMIsAFreezeInst(user)) ||
		    depth == 0 || !is_only_stored(user, depth - 1))
			return false;
	}
	return true;
}

bool full_is_idle(LLVMValueRef inst)
{
	if (LLVMIsAStoreInst(inst))
		return true;
	if (LLVMIsALoadInst(inst) || LLVMIsAAtomicRMWInst(inst))
		return is_only_stored(inst, USES_DEPTH);
	return false;
}

/* ---- loops that get closer to their end ---- */

struct loop_exits {
	struct backward values; /* what decides whether the loop ends */
	const struct facts_graph *reverse;
};

static LLVMBasicBlockRef block_at(const struct backward *w, uint32_t n)
{
	return w->cfg->blocks[n];
}

static bool is_memory(LLVMValueRef inst)
{
	return LLVMIsALoadInst(inst) || LLVMIsAAtomicRMWInst(inst) || LLVMIsAAtomicCmpXchgInst(inst);
}

static bool leaves(const struct backward *w, uint32_t block)
{
	const struct facts_graph *g = &w->cfg->graph;

	for (uint32_t e = g->succ_start[block]; e < g->succ_start[block + 1]; e++)
		if (!facts_loop_has(w->loop, g->succ[e]))
			return true;
	return g->succ_start[block] == g->succ_start[block + 1];
}

/* Returns the block at which all ways from this block meet again, or FACTS_NONE. */
static uint32_t joins_at(const struct loop_exits *x, uint32_t block)
{
	uint32_t next = x->reverse->idom[block + 1];

	return next == FACTS_NONE || next == 0 ? FACTS_NONE : next - 1;
}

/* Returns true if an exit of the loop lies between the block and the one at which its ways meet, so that
 * the branch at its end decides whether the exit is reached. */
static bool guards_exit(const struct loop_exits *x, uint32_t block)
{
	const struct backward *w = &x->values;
	const struct facts_graph *g = &w->cfg->graph;
	uint32_t join = joins_at(x, block), depth = 0;
	uint32_t *stack = rd_xcalloc(g->nodes + 1, sizeof *stack);
	bool *seen = rd_xcalloc(g->nodes + 1, sizeof *seen), found = leaves(w, block);

	stack[depth++] = block;
	while (depth && !found) {
		uint32_t n = stack[--depth];

		for (uint32_t e = g->succ_start[n]; e < g->succ_start[n + 1] && !found; e++) {
			uint32_t to = g->succ[e];

			if (to == join || to == w->loop->header || seen[to] || !facts_loop_has(w->loop, to))
				continue;
			seen[to] = true;
			stack[depth++] = to;
			found = leaves(w, to);
		}
	}
	free(stack);
	free(seen);
	return found;
}

static void want_condition(struct backward *w, LLVMBasicBlockRef block)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);

	if (!ir_is_call(end))
		for (int i = 0; i < LLVMGetNumOperands(end); i++)
			backward_want(w, LLVMGetOperand(end, (unsigned)i));
}

/* Adds what the value is computed from.  What an access reads is the memory's, not the loop's; but
 * whether a compare-and-exchange succeeds depends on its operands. */
static void want_operands(struct loop_exits *x, LLVMValueRef v)
{
	struct backward *w = &x->values;
	uint32_t block = ir_cfg_number(w->cfg, LLVMGetInstructionParent(v));

	if (LLVMIsALoadInst(v) || LLVMIsAAtomicRMWInst(v))
		return;
	for (int i = 0; i < LLVMGetNumOperands(v); i++)
		backward_want(w, LLVMGetOperand(v, (unsigned)i));
	if (!LLVMIsAPHINode(v) || block == w->loop->header)
		return;
	/* Which value it is depends on the way by which its block was reached. */
	want_condition(w, block_at(w, w->cfg->graph.idom[block]));
	for (unsigned i = 0; i < LLVMCountIncoming(v); i++)
		want_condition(w, LLVMGetIncomingBlock(v, i));
}

static void find_deciding(struct loop_exits *x)
{
	struct backward *w = &x->values;

	for (uint32_t n = 0; n < w->loop->size; n++)
		if (guards_exit(x, w->loop->body[n]))
			want_condition(w, block_at(w, w->loop->body[n]));
	for (size_t at = 0; at < w->count; at++)
		want_operands(x, w->work[at]);
}

/* Lists what the value is computed from in an iteration, without reading it from memory. */
static void list_sources(struct backward *from, LLVMValueRef value)
{
	backward_want(from, value);
	for (size_t at = 0; at < from->count; at++)
		for (int i = 0; i < LLVMGetNumOperands(from->work[at]) && !is_memory(from->work[at]); i++)
			backward_want(from, LLVMGetOperand(from->work[at], (unsigned)i));
}

static bool depends_on(const struct backward *w, LLVMValueRef value, LLVMValueRef phi)
{
	struct backward from = {.cfg = w->cfg, .loop = w->loop};
	bool found = false;

	list_sources(&from, value);
	for (size_t at = 0; at < from.count && !found; at++)
		found = from.work[at] == phi;
	backward_release(&from);
	return found;
}

/* Adds a hook before each instruction by which the loop computes the next value of the PHI from its last
 * one.  So an iteration that leaves the value as it is does not count as progress. */
static void mark_changes(struct instr_unit *u, const struct backward *w, LLVMValueRef phi,
			 struct rd_umap *marked)
{
	struct backward from = {.cfg = w->cfg, .loop = w->loop};

	for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
		list_sources(&from, LLVMGetIncomingValue(phi, i));
	for (size_t at = 0; at < from.count; at++) {
		LLVMValueRef inst = from.work[at];
		bool is_new;

		if (LLVMIsAPHINode(inst) || is_memory(inst) || !depends_on(w, inst, phi))
			continue;
		rd_umap_put(marked, (uintptr_t)LLVMGetInstructionParent(inst), &is_new);
		if (!is_new)
			continue;
		LLVMPositionBuilderBefore(u->builder, inst);
		instr_hook_call(u, HOOK_PROGRESS, NULL);
	}
	backward_release(&from);
}

static void mark_loop(struct instr_unit *u, const struct backward *w)
{
	struct rd_umap marked = {0};

	for (size_t i = 0; i < w->count; i++)
		if (LLVMIsAPHINode(w->work[i]) &&
		    LLVMGetInstructionParent(w->work[i]) == block_at(w, w->loop->header))
			mark_changes(u, w, w->work[i], &marked);
	rd_umap_release(&marked);
}

/* Returns true if the address is the same in each iteration, or is read from memory. */
static bool is_fixed(const struct backward *w, LLVMValueRef pointer)
{
	struct backward from = {.cfg = w->cfg, .loop = w->loop};
	bool fixed = true;

	list_sources(&from, pointer);
	for (size_t at = 0; at < from.count && fixed; at++)
		fixed = !LLVMIsAPHINode(from.work[at]);
	backward_release(&from);
	return fixed;
}

/* Returns true if the loop may look like one that waits: it calls a function or reads a fixed address. */
static bool may_wait(const struct backward *w)
{
	for (uint32_t n = 0; n < w->loop->size; n++)
		for (LLVMValueRef i = LLVMGetFirstInstruction(block_at(w, w->loop->body[n])); i != NULL;
		     i = LLVMGetNextInstruction(i)) {
			LLVMValueRef callee = ir_is_call(i) ? ir_callee(i) : NULL;

			if (is_memory(i) && is_fixed(w, LLVMGetOperand(i, 0)))
				return true;
			if (ir_is_call(i) && (callee == NULL || (LLVMGetIntrinsicID(callee) == 0 &&
								 !ir_starts(ir_name(callee), "__raddle_"))))
				return true;
		}
	return false;
}

static void look_at_loop(struct instr_unit *u, const struct ir_cfg *cfg, const struct facts_loop *loop)
{
	struct facts_graph reverse;
	struct loop_exits x = {.values = {.cfg = cfg, .loop = loop}, .reverse = &reverse};

	if (!may_wait(&x.values))
		return;
	facts_graph_reverse(&cfg->graph, &reverse);
	facts_graph_dominators(&reverse);
	find_deciding(&x);
	mark_loop(u, &x.values);
	facts_graph_release(&reverse);
	backward_release(&x.values);
}

void instr_mark_progress(struct instr_unit *u)
{
	instr_each_loop(u, look_at_loop);
}
