/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts tight loops into pieces if they may run for long (clone.h):
 *
 *	do { ... } while (++i < n);
 *
 * becomes
 *
 *	do {
 *		more = n - i > PIECE_ROUNDS;
 *		limit = more ? i + PIECE_ROUNDS : n;
 *		do { ... } while (++i < limit);
 *	} while (more);
 *
 * Then the byte of the region can be tested between two pieces, and the inner loop looks the same
 * as before, even to the vectoriser.  The loop must have a single exit at its end, where a counter
 * is compared with a bound that does not change in the loop.  So each piece except the last ends
 * with the counter exactly at its limit.
 *
 * The function is in the form that reg2mem makes: a value that lives longer than a block has a
 * slot.  Whenever the loop's first block is entered, the slot of a counter holds its next value.
 */
#include "base/error.h"
#include "instr/guard/clone.h"

#include "base/alloc.h"

/* Numbers of iterations, set by hand.  One test in 65536 iterations costs almost nothing, and a
 * piece still ends within about a millisecond.  A loop of at most a million iterations is not cut,
 * because it soon ends by itself. */
enum { PIECE_ROUNDS = 1 << 16, SHORT_LOOP_ROUNDS = 1 << 20 };

struct counted {
	LLVMValueRef test, next; /* the comparison with the bound, and the addition to the counter */
	LLVMValueRef slot;	 /* the slot of the counter */
	LLVMValueRef bound;	 /* a constant, an argument, or a load in the loop's last block */
	LLVMIntPredicate stays;	 /* the loop continues while `next` has this relation to `bound` */
	int64_t step;
	/* `latch` contains the comparison, and `back` branches to the header. */
	LLVMBasicBlockRef header, latch, back, exit;
};

static bool is_slot_load(LLVMValueRef v)
{
	return LLVMIsALoadInst(v) && !LLVMGetVolatile(v) && LLVMIsAAllocaInst(LLVMGetOperand(v, 0));
}

static bool is_stored_in(const struct instr_clone *t, const struct facts_loop *loop, LLVMValueRef slot)
{
	for (LLVMUseRef use = LLVMGetFirstUse(slot); use != NULL; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (LLVMIsALoadInst(user))
			continue;
		/* Any other instruction that uses the slot's address may change the slot. */
		if (!LLVMIsAStoreInst(user) || LLVMGetOperand(user, 0) == slot ||
		    facts_loop_has(loop, ir_cfg_number(&t->cfg, LLVMGetInstructionParent(user))))
			return true;
	}
	return false;
}

/* If `v` is a load of a slot to which only one store writes, returns the value that is stored.
 * Otherwise returns `v`. */
static LLVMValueRef behind(LLVMValueRef v)
{
	LLVMValueRef stored = NULL;
	if (!is_slot_load(v))
		return v;
	for (LLVMUseRef use = LLVMGetFirstUse(LLVMGetOperand(v, 0)); use != NULL; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (LLVMIsALoadInst(user))
			continue;
		if (!LLVMIsAStoreInst(user) || stored != NULL ||
		    LLVMGetOperand(user, 0) == LLVMGetOperand(v, 0))
			return v;
		stored = LLVMGetOperand(user, 0);
	}
	return stored != NULL ? stored : v;
}

/* Returns the slot from which the loop's first block loads the counter. */
static LLVMValueRef counter_slot(const struct counted *c, LLVMValueRef counter)
{
	LLVMValueRef v = behind(counter);
	return is_slot_load(v) && LLVMGetInstructionParent(v) == c->header ? LLVMGetOperand(v, 0) : NULL;
}

static LLVMIntPredicate opposite(LLVMIntPredicate p)
{
	switch (p) {
	case LLVMIntEQ: return LLVMIntNE;
	case LLVMIntUGE: return LLVMIntULT;
	case LLVMIntSGE: return LLVMIntSLT;
	default: return LLVMIntEQ; /* a form that find_counted() rejects */
	}
}

static bool note_edge(LLVMBasicBlockRef *known, LLVMBasicBlockRef block)
{
	if (*known != NULL && *known != block)
		return false;
	*known = block;
	return true;
}

/* Finds the exit and the back edge of the loop.  There must be only one exit and one back edge.
 * The back edge has a block of its own, because the pass reg2mem splits edges. */
static bool find_shape(const struct instr_clone *t, const struct facts_loop *loop, struct counted *c)
{
	const struct facts_graph *g = &t->cfg.graph;
	bool one = true;
	c->header = t->cfg.blocks[loop->header];
	for (uint32_t i = 0; i < loop->size; i++) {
		uint32_t b = loop->body[i];
		one &= g->succ_start[b] != g->succ_start[b + 1];
		for (uint32_t e = g->succ_start[b]; e < g->succ_start[b + 1]; e++) {
			if (g->succ[e] == loop->header)
				one &= note_edge(&c->back, t->cfg.blocks[b]);
			if (!facts_loop_has(loop, g->succ[e]))
				one &= note_edge(&c->latch, t->cfg.blocks[b]) &&
				       note_edge(&c->exit, t->cfg.blocks[g->succ[e]]);
		}
	}
	if (!one || c->back == NULL || c->latch == NULL)
		return false;
	uint32_t back = ir_cfg_number(&t->cfg, c->back);
	return g->pred_start[back + 1] - g->pred_start[back] == 1 &&
	       t->cfg.blocks[g->pred[g->pred_start[back]]] == c->latch &&
	       g->succ_start[back + 1] - g->succ_start[back] == 1;
}

static bool find_counted(const struct instr_clone *t, const struct facts_loop *loop, struct counted *c)
{
	if (!find_shape(t, loop, c))
		return false;
	LLVMValueRef end = LLVMGetBasicBlockTerminator(c->latch);
	if (!LLVMIsABranchInst(end) || !LLVMIsConditional(end))
		return false;
	c->test = LLVMGetCondition(end);
	if (!LLVMIsAICmpInst(c->test) || LLVMGetInstructionParent(c->test) != c->latch)
		return false;
	c->next = behind(LLVMGetOperand(c->test, 0));
	c->bound = LLVMGetOperand(c->test, 1);
	c->stays = LLVMGetICmpPredicate(c->test);
	if (LLVMGetSuccessor(end, 0) != c->back)
		c->stays = opposite(c->stays);
	if (!LLVMIsAInstruction(c->next) || LLVMGetInstructionOpcode(c->next) != LLVMAdd ||
	    (LLVMGetInstructionParent(c->next) != c->latch &&
	     LLVMGetInstructionParent(c->next) != c->header) ||
	    !LLVMIsAConstantInt(LLVMGetOperand(c->next, 1)) ||
	    LLVMGetTypeKind(LLVMTypeOf(c->next)) != LLVMIntegerTypeKind ||
	    LLVMGetIntTypeWidth(LLVMTypeOf(c->next)) < 32)
		return false;
	c->step = LLVMConstIntGetSExtValue(LLVMGetOperand(c->next, 1));
	c->slot = counter_slot(c, LLVMGetOperand(c->next, 0));
	bool counts = c->stays == LLVMIntNE ? c->step == 1
					    : (c->stays == LLVMIntSLT || c->stays == LLVMIntULT) &&
						      c->step > 0 && c->step < PIECE_ROUNDS;
	return counts && c->slot != NULL && LLVMGetAllocatedType(c->slot) == LLVMTypeOf(c->next);
}

/* Returns true if the instruction changes a variable of the loop by the same amount in each
 * iteration. */
static bool is_step(const struct instr_clone *t, const struct facts_loop *loop, LLVMValueRef inst)
{
	if (!LLVMIsAGetElementPtrInst(inst) && LLVMGetInstructionOpcode(inst) != LLVMAdd)
		return false;
	LLVMValueRef before = behind(LLVMGetOperand(inst, 0));
	if (!LLVMIsConstant(LLVMGetOperand(inst, 1)) || !is_slot_load(before))
		return false;
	LLVMValueRef slot = LLVMGetOperand(before, 0);
	for (LLVMUseRef use = LLVMGetFirstUse(slot); use != NULL; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (LLVMIsAStoreInst(user) && behind(LLVMGetOperand(user, 0)) == inst &&
		    facts_loop_has(loop, ir_cfg_number(&t->cfg, LLVMGetInstructionParent(user))))
			return true;
	}
	return false;
}

bool instr_clone_counts(const struct instr_clone *t, const struct facts_loop *loop)
{
	for (uint32_t b = 0; b < loop->size; b++)
		for (LLVMValueRef i = LLVMGetFirstInstruction(t->cfg.blocks[loop->body[b]]); i != NULL;
		     i = LLVMGetNextInstruction(i))
			if (is_step(t, loop, i))
				return true;
	return false;
}

/* Returns true if the bound is known before the loop begins, and the loop may be long. */
static bool is_bounded(const struct instr_clone *t, const struct facts_loop *loop, const struct counted *c)
{
	if (LLVMIsAConstantInt(c->bound))
		return LLVMConstIntGetZExtValue(c->bound) > SHORT_LOOP_ROUNDS;
	if (is_slot_load(c->bound))
		return LLVMGetInstructionParent(c->bound) == c->latch &&
		       !is_stored_in(t, loop, LLVMGetOperand(c->bound, 0));
	return LLVMIsAArgument(c->bound);
}

static LLVMValueRef bound_here(struct instr_unit *u, const struct counted *c)
{
	if (!LLVMIsALoadInst(c->bound))
		return c->bound;
	return LLVMBuildLoad2(u->builder, LLVMTypeOf(c->bound), LLVMGetOperand(c->bound, 0), "");
}

/* The slots of a piece: its limit, and whether another piece follows. */
struct piece {
	LLVMValueRef limit, more;
};

/* Inserts the code at the beginning of a piece. */
static void set_limit(struct instr_unit *u, const struct counted *c, const struct piece *p)
{
	LLVMBuilderRef b = u->builder;
	LLVMTypeRef type = LLVMTypeOf(c->next);
	LLVMValueRef piece = LLVMConstInt(type, (uint64_t)c->step * PIECE_ROUNDS, false);
	LLVMValueRef now = LLVMBuildLoad2(b, type, c->slot, ""), bound = bound_here(u, c);
	LLVMValueRef is_long = LLVMBuildICmp(b, LLVMIntUGT, LLVMBuildSub(b, bound, now, ""), piece, "");
	LLVMValueRef last = bound;
	if (c->stays != LLVMIntNE) {
		/* The first iteration runs even if the condition is false. */
		LLVMValueRef below = LLVMBuildICmp(b, c->stays, now, bound, "");
		LLVMValueRef first = LLVMBuildAdd(b, now, LLVMConstInt(type, (uint64_t)c->step, false), "");
		is_long = LLVMBuildAnd(b, below, is_long, "");
		last = LLVMBuildSelect(b, below, bound, first, "");
	}
	LLVMValueRef near = LLVMBuildAdd(b, now, piece, "");
	LLVMBuildStore(b, LLVMBuildSelect(b, is_long, near, last, ""), p->limit);
	LLVMBuildStore(b, is_long, p->more);
	LLVMBuildBr(b, c->header);
}

/* Makes a back edge like the original one, but to the beginning of a piece. */
static LLVMBasicBlockRef another_way_back(struct instr_unit *u, const struct counted *c,
					  LLVMBasicBlockRef start)
{
	LLVMBasicBlockRef block = LLVMInsertBasicBlockInContext(u->context, c->exit, "");
	struct rd_umap copies = {0};
	LLVMPositionBuilderAtEnd(u->builder, block);
	for (LLVMValueRef i = LLVMGetFirstInstruction(c->back); i != NULL; i = LLVMGetNextInstruction(i)) {
		LLVMValueRef copy = LLVMInstructionClone(i);
		LLVMInsertIntoBuilder(u->builder, copy);
		*rd_umap_put(&copies, (uintptr_t)i, NULL) = (uintptr_t)copy;
		instr_copy_operands(copy, &copies);
	}
	rd_umap_release(&copies);
	ir_redirect(block, c->header, start);
	return block;
}

/* Inserts the comparison of the counter with the limit of a piece.  A counter that grows by one
 * reaches its limit exactly, so it is compared for equality.  Passes that count iterations
 * recognise this form more easily. */
static void test_limit(struct instr_unit *u, const struct counted *c, const struct piece *p)
{
	LLVMPositionBuilderBefore(u->builder, c->test);
	LLVMValueRef limit = LLVMBuildLoad2(u->builder, LLVMTypeOf(c->next), p->limit, "");
	LLVMIntPredicate how = LLVMGetICmpPredicate(c->test);
	if (c->step == 1)
		how = how == c->stays ? LLVMIntNE : LLVMIntEQ;
	LLVMValueRef test = LLVMBuildICmp(u->builder, how, LLVMGetOperand(c->test, 0), limit, "");
	LLVMReplaceAllUsesWith(c->test, test);
	LLVMInstructionEraseFromParent(c->test);
}

static void cut(struct instr_clone *t, const struct facts_loop *loop, const struct counted *c,
		struct rd_umap *pieces)
{
	struct instr_unit *u = t->unit;
	const struct facts_graph *g = &t->cfg.graph;
	LLVMTypeRef flag = LLVMInt1TypeInContext(u->context);
	LLVMBasicBlockRef start = LLVMInsertBasicBlockInContext(u->context, c->header, "");
	LLVMBasicBlockRef end = LLVMInsertBasicBlockInContext(u->context, c->exit, "");
	LLVMPositionBuilderBefore(u->builder, LLVMGetFirstInstruction(t->cfg.blocks[0]));
	struct piece p = {LLVMBuildAlloca(u->builder, LLVMTypeOf(c->next), ""),
			  LLVMBuildAlloca(u->builder, flag, "")};
	LLVMPositionBuilderAtEnd(u->builder, start);
	set_limit(u, c, &p);
	LLVMBasicBlockRef again = another_way_back(u, c, start);
	LLVMPositionBuilderAtEnd(u->builder, end);
	LLVMBuildCondBr(u->builder, LLVMBuildLoad2(u->builder, flag, p.more, ""), again, c->exit);
	test_limit(u, c, &p);
	for (uint32_t e = g->pred_start[loop->header]; e < g->pred_start[loop->header + 1]; e++)
		if (!facts_loop_has(loop, g->pred[e]))
			ir_redirect(t->cfg.blocks[g->pred[e]], c->header, start);
	ir_redirect(c->latch, c->exit, end);
	rd_umap_put(pieces, (uintptr_t)start, NULL);
}

/* Returns true if a loop is nested three deep.  Such loops are short and begin often. */
static bool is_deep(const struct instr_clone *t, size_t loop)
{
	RD_ASSERT(loop < t->loops.count);
	uint32_t parent = t->parent[loop];
	return parent != FACTS_NONE && t->parent[parent] != FACTS_NONE;
}

void instr_clone_strip(struct instr_clone *t, struct rd_umap *pieces)
{
	LLVMSetCurrentDebugLocation2(t->unit->builder, NULL);
	for (size_t i = 0; i < t->loops.count; i++) {
		const struct facts_loop *loop = &t->loops.items[i];
		struct counted c = {0};
		bool unfit = is_deep(t, i);
		for (uint32_t b = 0; b < loop->size; b++)
			unfit |= t->loops.innermost[loop->body[b]] != i;
		if (!unfit && !t->polled[i] && instr_clone_has_marks(t, loop) && find_counted(t, loop, &c) &&
		    is_bounded(t, loop, &c))
			cut(t, loop, &c, pieces);
	}
}
