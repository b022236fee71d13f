/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the copies of a function's blocks (clone.h).  No value lives in a register from one block
 * to the next.  So a copy of a block is a copy of its instructions, and a branch may lead from one
 * copy of the function to the other:
 *
 *	entry ---> clean 0 ... meeting 5 -+-> clean 5 ...
 *	                          ^        \-> guarded 5 ...
 *	                          +-- from both copies
 *
 * Both copies lead to a meeting, the block that tests the byte.  So a loop stays one loop with the
 * same header, and control returns to the clean copy as soon as no guard is active any more.
 *
 * If the only meeting is at the function's entry, the guarded copy becomes a separate function.  If
 * it stayed in the same function, it would influence which registers are saved on entry, and code
 * common to both copies would be moved before the test.
 */
#include "base/error.h"
#include "instr/guard/clone.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "raddle/guard.h"

#include <llvm-c/Comdat.h>
#include <stdlib.h>
#include <string.h>

/* Weights of branches.  Set by hand, so that LLVM moves the rare target out of the way. */
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

static LLVMValueRef byte_of(struct instr_unit *u, uint32_t region)
{
	RD_ASSERT(region < RADDLE_GUARDS);
	LLVMValueRef at = LLVMConstInt(u->i64, region, false);
	return LLVMConstInBoundsGEP2(LLVMInt8TypeInContext(u->context), regions_of(u), &at, 1);
}

LLVMValueRef instr_clone_byte(struct instr_unit *u, uint32_t region)
{
	LLVMTypeRef byte = LLVMInt8TypeInContext(u->context);
	LLVMValueRef value = LLVMBuildLoad2(u->builder, byte, byte_of(u, region), "");
	LLVMSetVolatile(value, true);
	return LLVMBuildICmp(u->builder, LLVMIntNE, value, LLVMConstNull(byte), "");
}

void instr_say_rare(struct instr_unit *u, LLVMValueRef branch)
{
	LLVMMetadataRef items[] = {
		LLVMMDStringInContext2(u->context, "branch_weights", strlen("branch_weights")),
		LLVMValueAsMetadata(LLVMConstInt(u->i32, RARE, false)),
		LLVMValueAsMetadata(LLVMConstInt(u->i32, OFTEN, false)),
	};
	LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(u->context, "prof", 4),
			LLVMMetadataAsValue(u->context, LLVMMDNodeInContext2(u->context, items, 3)));
}

LLVMBasicBlockRef instr_split_entry(struct instr_unit *u, LLVMBasicBlockRef old)
{
	LLVMBasicBlockRef entry = LLVMInsertBasicBlockInContext(u->context, old, "");
	for (LLVMValueRef i = LLVMGetFirstInstruction(old), next; i != NULL; i = next) {
		next = LLVMGetNextInstruction(i);
		if (!LLVMIsAAllocaInst(i) || !LLVMIsAConstantInt(LLVMGetOperand(i, 0)))
			continue;
		LLVMInstructionRemoveFromParent(i);
		LLVMPositionBuilderAtEnd(u->builder, entry);
		LLVMInsertIntoBuilder(u->builder, i);
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

static void connect(struct instr_clone *t, uint32_t number, const struct rd_umap *copies)
{
	RD_ASSERT(number < t->cfg.graph.nodes);
	for (LLVMValueRef i = LLVMGetFirstInstruction(t->guarded[number]); i != NULL;
	     i = LLVMGetNextInstruction(i))
		instr_copy_operands(i, copies);
}

/* Returns the number of the block to which a branch to `block` leads in the guarded copy. unroll.c
 * may have repeated the body of a loop, but the guarded copy executes only the first repetition.
 * The header of any repetition is therefore mapped to that of the first one.  Other blocks are
 * mapped to themselves. */
static uint32_t first_of(const struct instr_clone *t, uint32_t block)
{
	RD_ASSERT(block < t->cfg.graph.nodes);
	const uint64_t *first = rd_umap_get(&t->unrolled->first, (uintptr_t)t->cfg.blocks[block]);
	return first != NULL ? ir_cfg_number(&t->cfg, (LLVMBasicBlockRef)(uintptr_t)*first) : block;
}

/* Makes the branches of one copy lead to its own blocks, or to the meetings, which both copies
 * share. */
static void lead(struct instr_clone *t, LLVMBasicBlockRef block, bool guarded)
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

static void make_meeting(struct instr_clone *t, uint32_t number)
{
	RD_ASSERT(number < t->cfg.graph.nodes);
	struct instr_unit *u = t->unit;
	LLVMPositionBuilderAtEnd(u->builder, t->meeting[number]);
	LLVMValueRef wanted = instr_clone_byte(u, t->region);
	instr_say_rare(u, LLVMBuildCondBr(u->builder, wanted, t->guarded[number], t->cfg.blocks[number]));
}

/* Removes the marks from the clean copy of a block, unless it keeps them as tests. */
static void clean(struct instr_clone *t, uint32_t number)
{
	RD_ASSERT(number < t->cfg.graph.nodes);
	for (LLVMValueRef i = LLVMGetFirstInstruction(t->cfg.blocks[number]), next; i != NULL; i = next) {
		next = LLVMGetNextInstruction(i);
		if (instr_is_mark(i) && !t->keeps[number])
			LLVMInstructionEraseFromParent(i);
	}
}

/* ---- a guarded copy that is a separate function ---- */

/* Copies the attributes of the function itself, of its result (index 0) and of its parameters. */
static void copy_attributes(LLVMValueRef from, LLVMValueRef to)
{
	unsigned last = LLVMCountParams(from);
	for (LLVMAttributeIndex at = LLVMAttributeFunctionIndex, next = 0; next <= last + 1; at = next++) {
		unsigned n = LLVMGetAttributeCountAtIndex(from, at);
		LLVMAttributeRef *all = rd_xcalloc(n + 1, sizeof *all);
		LLVMGetAttributesAtIndex(from, at, all);
		for (unsigned i = 0; i < n; i++)
			LLVMAddAttributeAtIndex(to, at, all[i]);
		free(all);
	}
}

/* Declares a function of the same type, without debug information. */
static LLVMValueRef declare_alike(struct instr_unit *u, LLVMValueRef f)
{
	struct rd_buf name = RD_BUF_INIT;
	rd_buf_addf(&name, "%s.guarded", ir_name(f));
	LLVMValueRef g = LLVMAddFunction(u->module, name.data, LLVMGlobalGetValueType(f));
	rd_buf_release(&name);
	LLVMSetLinkage(g, LLVMInternalLinkage);
	LLVMSetFunctionCallConv(g, LLVMGetFunctionCallConv(f));
	if (LLVMHasPersonalityFn(f))
		LLVMSetPersonalityFn(g, LLVMGetPersonalityFn(f));
	if (LLVMGetComdat(f) != NULL)
		LLVMSetComdat(g, LLVMGetComdat(f));
	if (LLVMGetSection(f) != NULL)
		LLVMSetSection(g, LLVMGetSection(f));
	copy_attributes(f, g);
	instr_set_attribute(u, g, "cold", true);
	return g;
}

/* Copies the body of `t`'s function to `g` without changes.  The copied instructions have no
 * source lines. */
static void copy_body(struct instr_clone *t, LLVMValueRef g)
{
	struct instr_unit *u = t->unit;
	struct rd_umap copies = {0};
	for (unsigned i = 0; i < LLVMCountParams(g); i++)
		*rd_umap_put(&copies, (uintptr_t)LLVMGetParam(t->function, i), NULL) =
			(uintptr_t)LLVMGetParam(g, i);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(t->function); b != NULL;
	     b = LLVMGetNextBasicBlock(b)) {
		LLVMBasicBlockRef copy = LLVMAppendBasicBlockInContext(u->context, g, "");
		*rd_umap_put(&copies, (uintptr_t)LLVMBasicBlockAsValue(b), NULL) =
			(uintptr_t)LLVMBasicBlockAsValue(copy);
		t->guarded[ir_cfg_number(&t->cfg, b)] = copy;
		LLVMPositionBuilderAtEnd(u->builder, copy);
		instr_copy_block(u, b, &copies);
	}
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(g); b != NULL; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i)) {
			instr_copy_operands(i, &copies);
			LLVMInstructionSetDebugLoc(i, NULL);
		}
	rd_umap_release(&copies);
}

static LLVMValueRef distance(struct instr_unit *u, LLVMValueRef to, LLVMValueRef from, uint64_t behind)
{
	LLVMValueRef at = LLVMConstAdd(LLVMConstPtrToInt(from, u->i64), LLVMConstInt(u->i64, behind, false));
	return LLVMConstTrunc(LLVMConstSub(LLVMConstPtrToInt(to, u->i64), at), u->i32);
}

/* Inserts the first instructions of `f`, which test the byte of a region and jump to the guarded
 * copy `g`.  They precede the prologue.  No register has been saved or moved yet, so the jump has
 * the same effect as if `g` had been called.
 *
 *	cmpb $0, region(%rip)
 *	jne  g */
static void begin_with_test(struct instr_clone *t, LLVMValueRef g)
{
	enum { BEHIND_COMPARE = 7, BEHIND_JUMP = 13 };
	struct instr_unit *u = t->unit;
	LLVMTypeRef byte = LLVMInt8TypeInContext(u->context);
	LLVMValueRef code[] = {
		LLVMConstInt(byte, 0x80, false),
		LLVMConstInt(byte, 0x3d, false),
		distance(u, byte_of(u, t->region), t->function, BEHIND_COMPARE),
		LLVMConstNull(byte),
		LLVMConstInt(byte, 0x0f, false),
		LLVMConstInt(byte, 0x85, false),
		distance(u, g, t->function, BEHIND_JUMP),
	};
	LLVMSetPrologueData(t->function,
			    LLVMConstStructInContext(u->context, code, sizeof code / sizeof *code, true));
}

/* Returns true if the beginning of the function is already used for something else: a marker for
 * jump targets (IBT), call counting, or space for patches. */
static bool has_begin(struct instr_unit *u, LLVMValueRef f)
{
	static const char *const wants[] = {"fentry-call", "patchable-function", "patchable-function-entry",
					    "xray-instruction-threshold", "function-instrument"};
	for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
		if (LLVMGetStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, wants[i],
						  (unsigned)strlen(wants[i])) != NULL)
			return true;
	return LLVMHasPrologueData(f) ||
	       LLVMGetModuleFlag(u->module, "cf-protection-branch", strlen("cf-protection-branch")) != NULL;
}

static bool can_be_apart(const struct instr_clone *t)
{
	if (!t->meets[0] || LLVMIsFunctionVarArg(LLVMGlobalGetValueType(t->function)) ||
	    has_begin(t->unit, t->function))
		return false;
	for (uint32_t b = 1; b < t->cfg.graph.nodes; b++)
		if (t->meets[b])
			return false;
	return true;
}

/* Prevents inlining of the function, because inlining would remove the test at its beginning.
 * Small functions were inlined before the copies were made. */
static void stay_function(struct instr_unit *u, LLVMValueRef f)
{
	instr_set_attribute(u, f, "alwaysinline", false);
	instr_set_attribute(u, f, "noinline", true);
}

static void copy_apart(struct instr_clone *t)
{
	LLVMValueRef g = declare_alike(t->unit, t->function);
	copy_body(t, g);
	begin_with_test(t, g);
	stay_function(t->unit, g);
	stay_function(t->unit, t->function);
	for (uint32_t b = 0; b < t->cfg.graph.nodes; b++)
		clean(t, b);
}

/* ---- both copies in one function ---- */

static void copy_within(struct instr_clone *t)
{
	struct instr_unit *u = t->unit;
	const uint32_t nodes = t->cfg.graph.nodes;
	struct rd_umap copies = {0};
	LLVMBasicBlockRef entry = instr_split_entry(u, t->cfg.blocks[0]);
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
	free(t->meeting);
}

void instr_clone_copy(struct instr_clone *t)
{
	LLVMSetCurrentDebugLocation2(t->unit->builder, NULL);
	t->guarded = rd_xcalloc(t->cfg.graph.nodes, sizeof *t->guarded);
	if (can_be_apart(t))
		copy_apart(t);
	else
		copy_within(t);
}
