/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Duplicates loops, so that one copy runs on concrete values only.  This happens before references
 * are added to the values of the function.  Each loop whose accesses are known before it is
 * entered gets a flag.  The flag is set if a value that enters the loop, or memory that the loop
 * accesses, may have an expression.  If the flag is not set, there are no references in the loop,
 * and accesses test the flag instead of the marks of their page.  So the optimiser can duplicate
 * the loop, and one copy does only what the program does.
 *
 * The marks are tested after the hooks of `record` that precede the loop.  A thread that is
 * stopped at a hook in the loop keeps the flag.  If another thread meanwhile makes a value depend
 * on input, without any synchronisation, the value is treated as concrete until the loop ends.
 */
#include "instr/shadow/shadow.h"

#include "base/alloc.h"
#include "instr/record/late.h"

#include <stdlib.h>

/* The largest number of extents of a loop.  Testing more of them would take as long as the loop. */
enum { EXTENTS_MAX = 12 };

/* A loop under examination. */
struct look {
	struct shadow_function *x;
	struct late_shape shape;
	struct late *late;
	struct {
		LLVMValueRef access, pointer;
		uint64_t size;
	} accesses[4 * EXTENTS_MAX];
	size_t count;
};

static LLVMBasicBlockRef block_of(const struct look *k, uint32_t i)
{
	return k->late->cfg.blocks[k->shape.loop->body[i]];
}

/* ---- whether a loop can be duplicated ---- */

/* Returns true if a call changes no memory of the program.  The hooks of accesses change none. */
static bool is_quiet_call(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetInstructionOpcode(call) == LLVMCall ? ir_callee(call) : NULL;
	const char *name = callee != NULL ? ir_name(callee) : "";
	if (ir_starts(name, "__raddle_"))
		return ir_starts(name, "__raddle_read") || ir_starts(name, "__raddle_write") ||
		       ir_starts(name, "__raddle_update");
	return ir_starts(name, "llvm.") && !ir_starts(name, "llvm.mem") && !ir_starts(name, "llvm.masked");
}

/* Adds an access to the list.  Returns false if the loop cannot be duplicated because of the
 * instruction. */
static bool look_at(struct look *k, LLVMValueRef inst)
{
	LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
	bool is_load = opcode == LLVMLoad;
	if (opcode == LLVMCall)
		return is_quiet_call(inst);
	if (!is_load && opcode != LLVMStore)
		return opcode != LLVMInvoke && opcode != LLVMFence && opcode != LLVMAtomicRMW &&
		       opcode != LLVMAtomicCmpXchg && opcode != LLVMAlloca;
	if (LLVMGetVolatile(inst) || LLVMGetOrdering(inst) != LLVMAtomicOrderingNotAtomic)
		return false;
	if (is_load && !shadow_may(k->x, inst))
		return true;
	LLVMTypeRef type = LLVMTypeOf(is_load ? inst : LLVMGetOperand(inst, 0));
	uint64_t size = LLVMStoreSizeOfType(k->x->u->layout, type);
	if (k->count == sizeof k->accesses / sizeof *k->accesses || size == 0 || size > 8)
		return false;
	k->accesses[k->count].access = inst;
	k->accesses[k->count].pointer = LLVMGetOperand(inst, is_load ? 0 : 1);
	k->accesses[k->count++].size = size;
	return true;
}

static bool is_innermost(const struct look *k, size_t number)
{
	const struct facts_loop *loop = k->shape.loop;
	for (uint32_t i = 0; i < loop->size; i++)
		if (k->late->loops.innermost[loop->body[i]] != number)
			return false;
	return true;
}

static bool can_be_twice(struct look *k)
{
	for (uint32_t i = 0; i < k->shape.loop->size; i++)
		for (LLVMValueRef n = LLVMGetFirstInstruction(block_of(k, i)); n != NULL;
		     n = LLVMGetNextInstruction(n))
			if (!look_at(k, n))
				return false;
	return k->count > 0;
}

/* --- the memory that a loop touches --- */

/* Before the loop, inserts code that tests the marks of all extents.  Returns NULL if no extent is
 * known. */
static LLVMValueRef look_at_marks(struct look *k)
{
	struct shadow_function *x = k->x;
	LLVMValueRef marks = NULL;
	unsigned extents = 0;
	for (size_t i = 0; i < k->count && extents < EXTENTS_MAX; i++) {
		struct late_extent e;
		size_t same = 0;
		while (k->accesses[same].pointer != k->accesses[i].pointer ||
		       k->accesses[same].size != k->accesses[i].size)
			same++;
		if (same < i) {
			if (rd_umap_get(&x->covered, (uintptr_t)k->accesses[same].access) != NULL)
				rd_umap_put(&x->covered, (uintptr_t)k->accesses[i].access, NULL);
			continue;
		}
		if (!instr_late_extent(&k->shape, k->accesses[i].pointer, &e))
			continue;
		LLVMValueRef some = instr_hook_call(
			x->u, HOOK_SX_EXTENT,
			(LLVMValueRef[]){e.first, e.rounds, shadow_i64(x, (uint64_t)e.by),
					 shadow_i32(x, (uint64_t)(k->shape.at_most && e.by != 0) << 8 |
							       k->accesses[i].size)});
		marks = marks == NULL ? some : LLVMBuildOr(x->u->builder, marks, some, "");
		rd_umap_put(&x->covered, (uintptr_t)k->accesses[i].access, NULL);
		extents++;
	}
	return marks;
}

/* ---- values that the flag does not cover ---- */

static bool is_loose(const struct shadow_function *x, LLVMValueRef v)
{
	return rd_umap_get(&x->loose, (uintptr_t)v) != NULL;
}

static bool becomes_loose(const struct shadow_function *x, LLVMValueRef inst)
{
	unsigned n = (unsigned)LLVMGetNumOperands(inst);
	if (!shadow_may(x, inst) || is_loose(x, inst))
		return false;
	if (LLVMGetInstructionOpcode(inst) == LLVMLoad && rd_umap_get(&x->covered, (uintptr_t)inst) == NULL)
		return true;
	for (unsigned i = 0; i < n; i++)
		if (is_loose(x, LLVMGetOperand(inst, i)))
			return true;
	return false;
}

static void spread_loose(struct look *k)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = 0; i < k->shape.loop->size; i++)
			for (LLVMValueRef n = LLVMGetFirstInstruction(block_of(k, i)); n != NULL;
			     n = LLVMGetNextInstruction(n))
				if (becomes_loose(k->x, n)) {
					rd_umap_put(&k->x->loose, (uintptr_t)n, NULL);
					changed = true;
				}
	}
}

/* Returns true if a stored value may set marks that the flag does not cover. */
static bool stores_loose(const struct look *k)
{
	for (size_t i = 0; i < k->count; i++) {
		LLVMValueRef access = k->accesses[i].access;
		if (LLVMGetInstructionOpcode(access) == LLVMStore &&
		    is_loose(k->x, LLVMGetOperand(access, 0)))
			return true;
	}
	return false;
}

/* ---- all loops of a function ---- */

static void add_loop(struct look *k, LLVMValueRef marks)
{
	struct shadow_function *x = k->x;
	struct shadow_loop made = {.end = k->shape.end,
				   .marks = marks,
				   .header = k->late->cfg.blocks[k->shape.loop->header],
				   .size = k->shape.loop->size};
	made.body = rd_xcalloc(made.size, sizeof(LLVMBasicBlockRef));
	for (uint32_t i = 0; i < made.size; i++)
		made.body[i] = block_of(k, i);
	RD_GROW(x->loops, x->loop_capacity, x->loop_count + 1);
	x->loops[x->loop_count++] = made;
	for (uint32_t i = 0; i < made.size; i++)
		*rd_umap_put(&x->loop_of, (uintptr_t)made.body[i], NULL) = x->loop_count;
	*rd_umap_put(&x->loop_of, (uintptr_t)made.end, NULL) = x->loop_count;
}

static void look_at_loop(struct shadow_function *x, struct late *late, size_t number)
{
	struct look k = {.x = x, .late = late};
	LLVMValueRef marks;
	k.shape = (struct late_shape){.late = late, .loop = &late->loops.items[number], .at_most = true};
	if (!is_innermost(&k, number) || !can_be_twice(&k) || !instr_late_shape(&k.shape))
		return;
	marks = look_at_marks(&k);
	if (marks == NULL)
		return;
	spread_loose(&k);
	if (!stores_loose(&k))
		add_loop(&k, marks); /* without a flag, each access tests the marks itself */
}

void shadow_loops_find(struct shadow_function *x)
{
	struct late late = {.unit = x->u, .function = x->function};
	ir_cfg_init(&late.cfg, x->function);
	facts_graph_dominators(&late.cfg.graph);
	facts_loops_init(&late.loops, &late.cfg.graph);
	for (size_t i = 0; i < late.loops.count; i++)
		look_at_loop(x, &late, i);
	facts_loops_release(&late.loops);
	ir_cfg_release(&late.cfg);
}

void shadow_loops_release(struct shadow_function *x)
{
	for (size_t i = 0; i < x->loop_count; i++)
		free(x->loops[i].body);
	free(x->loops);
	RD_UMAP_RELEASE(&x->loop_of, &x->covered, &x->loose);
}

/* ---- references ---- */

static struct shadow_loop *loop_of(const struct shadow_function *x, const void *what)
{
	const uint64_t *number = what != NULL ? rd_umap_get(&x->loop_of, (uintptr_t)what) : NULL;
	return number != NULL ? &x->loops[*number - 1] : NULL;
}

void shadow_loop_at(struct shadow_function *x, LLVMBasicBlockRef block)
{
	x->inside = loop_of(x, block);
}

/* Returns true if the value is computed before the loop. */
static bool comes_in(const struct shadow_function *x, const struct shadow_loop *l, LLVMValueRef v)
{
	return !LLVMIsAInstruction(v) || loop_of(x, LLVMGetInstructionParent(v)) != l;
}

void shadow_loop_enter(struct shadow_function *x, LLVMValueRef end)
{
	struct shadow_loop *l = loop_of(x, end);
	LLVMBuilderRef b = x->u->builder;
	struct rd_umap seen = {0};
	if (l == NULL)
		return;
	shadow_at(x, end);
	LLVMValueRef any = l->marks;
	for (uint32_t i = 0; i < l->size; i++)
		for (LLVMValueRef n = LLVMGetFirstInstruction(l->body[i]); n != NULL;
		     n = LLVMGetNextInstruction(n))
			for (int k = 0; k < LLVMGetNumOperands(n); k++) {
				LLVMValueRef v = LLVMGetOperand(n, (unsigned)k);
				bool added = false;
				if (!shadow_may(x, v) || !comes_in(x, l, v))
					continue;
				rd_umap_put(&seen, (uintptr_t)v, &added);
				if (added)
					any = LLVMBuildOr(b, any, shadow_ref(x, v), "");
			}
	rd_umap_release(&seen);
	l->flag = LLVMBuildICmp(b, LLVMIntNE, any, shadow_i32(x, 0), "");
}

LLVMValueRef shadow_loop_ref(const struct shadow_function *x, LLVMValueRef v, LLVMValueRef ref)
{
	const struct shadow_loop *l = x->inside;
	bool at_header = LLVMIsAPHINode(v) != NULL && l != NULL && LLVMGetInstructionParent(v) == l->header;
	if (l == NULL || l->flag == NULL || is_loose(x, v) || (!at_header && !comes_in(x, l, v)))
		return ref;
	return LLVMBuildSelect(x->u->builder, l->flag, ref, shadow_i32(x, 0), "");
}

LLVMValueRef shadow_loop_flag(const struct shadow_function *x, LLVMValueRef access)
{
	return x->inside != NULL && rd_umap_get(&x->covered, (uintptr_t)access) != NULL ? x->inside->flag
											: NULL;
}
