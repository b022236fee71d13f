/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The copies of a function's blocks (twin.h).  No value lives in a register from one block to the next, so a
 *copy of a block is a copy of its instructions, and a way may lead from a block of one copy to one of the
 *other:
 *
 *	entry ---> clean 0 ... meeting 5 -+-> clean 5 ...
 *	                          ^        \-> guarded 5 ...
 *	                          +-- from both copies
 *
 * A meeting is met from both copies, so that a loop stays one loop, whose header is the same as before, and
 *the way back to the clean copy is found as soon as nothing is asked for any more.
 */
#include "instr/twin.h"

#include "base/alloc.h"
#include "raddle/guard.h"

#include <string.h>

enum { RARE = 1, OFTEN = 1 << 20 };

static LLVMValueRef regions_of(struct instr_unit *u)
{
	static const char name[] = "__raddle_guard_regions";
	LLVMValueRef g = LLVMGetNamedGlobal(u->module, name);
	if (g == NULL) {
		g = LLVMAddGlobal(u->module, LLVMArrayType2(LLVMInt8TypeInContext(u->context), RADDLE_GUARDS),
				  name);
		LLVMSetVisibility(g, LLVMHiddenVisibility);
	}
	return g;
}

LLVMValueRef instr_twin_byte(struct instr_twin *t)
{
	struct instr_unit *u = t->unit;
	LLVMTypeRef byte = LLVMInt8TypeInContext(u->context);
	LLVMValueRef at = LLVMConstInt(u->i64, t->region, false);
	LLVMValueRef value =
		LLVMBuildLoad2(u->builder, byte, LLVMConstInBoundsGEP2(byte, regions_of(u), &at, 1), "");
	LLVMSetVolatile(value, true);
	return LLVMBuildICmp(u->builder, LLVMIntNE, value, LLVMConstNull(byte), "");
}

/* The first of the two ways is the rare one. */
static void say_rare(struct instr_unit *u, LLVMValueRef branch)
{
	LLVMMetadataRef items[] = {
		LLVMMDStringInContext2(u->context, "branch_weights", strlen("branch_weights")),
		LLVMValueAsMetadata(LLVMConstInt(u->i32, RARE, false)),
		LLVMValueAsMetadata(LLVMConstInt(u->i32, OFTEN, false)),
	};
	LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(u->context, "prof", 4),
			LLVMMetadataAsValue(u->context, LLVMMDNodeInContext2(u->context, items, 3)));
}

/* Variables of the function are those of both copies. */
static LLVMBasicBlockRef split_entry(struct instr_twin *t)
{
	LLVMBasicBlockRef old = t->cfg.blocks[0];
	LLVMBasicBlockRef entry = LLVMInsertBasicBlockInContext(t->unit->context, old, "");
	for (LLVMValueRef i = LLVMGetFirstInstruction(old), next; i != NULL; i = next) {
		next = LLVMGetNextInstruction(i);
		if (!LLVMIsAAllocaInst(i) || !LLVMIsAConstantInt(LLVMGetOperand(i, 0)))
			continue;
		LLVMInstructionRemoveFromParent(i);
		LLVMPositionBuilderAtEnd(t->unit->builder, entry);
		LLVMInsertIntoBuilder(t->unit->builder, i);
	}
	return entry;
}

void instr_copy_block(struct instr_unit *u, LLVMBasicBlockRef block, struct rd_umap *copies)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != NULL; i = LLVMGetNextInstruction(i)) {
		LLVMValueRef copy = LLVMInstructionClone(i);
		LLVMInsertIntoBuilder(u->builder, copy);
		*rd_umap_put(copies, (uintptr_t)i, NULL) = (uintptr_t)copy;
	}
}

void instr_copy_operands(LLVMValueRef copy, const struct rd_umap *copies)
{
	int n = LLVMGetNumOperands(copy);
	for (int k = 0; k < n; k++) {
		LLVMValueRef operand = LLVMGetOperand(copy, (unsigned)k);
		const uint64_t *other = operand != NULL ? rd_umap_get(copies, (uintptr_t)operand) : NULL;
		if (other != NULL)
			LLVMSetOperand(copy, (unsigned)k, (LLVMValueRef)(uintptr_t)*other);
	}
}

static void connect(struct instr_twin *t, uint32_t number, const struct rd_umap *copies)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(t->guarded[number]); i != NULL;
	     i = LLVMGetNextInstruction(i))
		instr_copy_operands(i, copies);
}

/* The guarded copy has a loop once that the clean one has several times. */
static uint32_t first_of(const struct instr_twin *t, uint32_t block)
{
	const uint64_t *first = rd_umap_get(&t->unrolled->first, (uintptr_t)t->cfg.blocks[block]);
	return first != NULL ? ir_cfg_number(&t->cfg, (LLVMBasicBlockRef)(uintptr_t)*first) : block;
}

/* Ways of one copy lead to its own blocks, or to where both meet. */
static void lead(struct instr_twin *t, LLVMBasicBlockRef block, bool guarded)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
	unsigned n = LLVMGetNumSuccessors(end);
	for (unsigned i = 0; i < n; i++) {
		LLVMBasicBlockRef next = LLVMGetSuccessor(end, i);
		bool one_way = rd_umap_get(&t->unrolled->tests, (uintptr_t)next) != NULL;
		uint32_t to = ir_cfg_number(&t->cfg, next);
		if (guarded)
			to = first_of(t, to);
		if (t->meeting[to] != NULL && !(guarded && one_way))
			LLVMSetSuccessor(end, i, t->meeting[to]);
		else if (guarded)
			LLVMSetSuccessor(end, i, t->guarded[to]);
	}
}

static void make_meeting(struct instr_twin *t, uint32_t number)
{
	struct instr_unit *u = t->unit;
	LLVMPositionBuilderAtEnd(u->builder, t->meeting[number]);
	LLVMValueRef wanted = instr_twin_byte(t);
	say_rare(u, LLVMBuildCondBr(u->builder, wanted, t->guarded[number], t->cfg.blocks[number]));
}

/* The clean copy loses its marks, where nothing says that it keeps them as tests. */
static void clean(struct instr_twin *t, uint32_t number)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(t->cfg.blocks[number]), next; i != NULL; i = next) {
		next = LLVMGetNextInstruction(i);
		if (instr_is_mark(i) && !t->keeps[number])
			LLVMInstructionEraseFromParent(i);
	}
}

void instr_twin_copy(struct instr_twin *t)
{
	struct instr_unit *u = t->unit;
	const uint32_t nodes = t->cfg.graph.nodes;
	struct rd_umap copies = {0};
	LLVMSetCurrentDebugLocation2(u->builder, NULL);
	LLVMBasicBlockRef entry = split_entry(t);
	t->guarded = rd_xcalloc(nodes, sizeof *t->guarded);
	t->meeting = rd_xcalloc(nodes, sizeof *t->meeting);
	for (uint32_t b = 0; b < nodes; b++) {
		t->guarded[b] = LLVMAppendBasicBlockInContext(u->context, t->function, "");
		if (t->meets[b])
			t->meeting[b] = LLVMInsertBasicBlockInContext(u->context, t->cfg.blocks[b], "");
	}
	for (uint32_t b = 0; b < nodes; b++) {
		LLVMPositionBuilderAtEnd(u->builder, t->guarded[b]);
		instr_copy_block(u, t->cfg.blocks[b], &copies);
	}
	for (uint32_t b = 0; b < nodes; b++)
		connect(t, b, &copies);
	for (uint32_t b = 0; b < nodes; b++) {
		lead(t, t->cfg.blocks[b], false);
		lead(t, t->guarded[b], true);
		if (t->meets[b])
			make_meeting(t, b);
		clean(t, b);
	}
	LLVMPositionBuilderAtEnd(u->builder, entry);
	LLVMBuildBr(u->builder, t->meeting[0] != NULL ? t->meeting[0] : t->cfg.blocks[0]);
	rd_umap_release(&copies);
	RD_FREE(t->guarded, t->meeting);
}
