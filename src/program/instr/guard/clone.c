/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which functions are duplicated (clone.h), and where control changes from one copy to the
 * other.
 *
 * Each guard has a scope.  It is the innermost loop that contains the guard and has a test in each
 * iteration.  If there is no such loop, the scope is the whole function.  All guards of a scope
 * share one test, at the last place that all paths to them pass.  If a scope has a single guard,
 * the flag of that guard is tested instead of the region's byte, at the same cost.  Counting loops
 * without calls have no tests, because a test would cost more than the rest of the loop.  Instead,
 * the test is in the code around them, or they are split into pieces (strip.c).  Other loops with
 * short iterations test once in several iterations (unroll.c).
 *
 * In a function that cannot be copied, each mark is replaced by a test in the same place.
 */
#include "instr/guard/clone.h"

#include "base/alloc.h"
#include "base/error.h"
#include "raddle/guard.h"

#include <stdlib.h>
#include <string.h>

enum {
	TIGHT = 100,	    /* counting loops with fewer instructions have no test */
	MAX_COPIED = 30000, /* largest size, in instructions, of a function that is copied */
	/* The first region of a unit is the number of its slot times this odd and large number. */
	REGION_STEP = 40503u,
	MARK_ADDRESS = 0, /* the operands of a mark */
	MARK_SIZE = 1,
	MARK_NUMBER = 2,
};

/* ---- marks ---- */

static LLVMValueRef mark_callee(struct instr_unit *u)
{
	unsigned id = LLVMLookupIntrinsicID("llvm.sideeffect", strlen("llvm.sideeffect"));
	return LLVMGetIntrinsicDeclaration(u->module, id, NULL, 0);
}

void instr_mark(struct instr_unit *u, LLVMValueRef address, LLVMValueRef size, uint32_t number)
{
	RD_ASSERT(number < RADDLE_GUARDS || number >= MARK_ATOMIC);
	LLVMValueRef operands[] = {address, size, LLVMConstInt(u->i32, number, false)};
	LLVMOperandBundleRef bundle = LLVMCreateOperandBundle("deopt", strlen("deopt"), operands, 3);
	LLVMTypeRef type = LLVMFunctionType(u->nothing, NULL, 0, false);
	LLVMBuildCallWithOperandBundles(u->builder, type, mark_callee(u), NULL, 0, &bundle, 1, "");
	LLVMDisposeOperandBundle(bundle);
}

static bool is_any_mark(LLVMValueRef inst)
{
	if (LLVMGetInstructionOpcode(inst) != LLVMCall || LLVMGetNumOperandBundles(inst) != 1)
		return false;
	LLVMValueRef callee = LLVMGetCalledValue(inst);
	return LLVMIsAFunction(callee) && strcmp(ir_name(callee), "llvm.sideeffect") == 0;
}

uint32_t instr_mark_guard(LLVMValueRef mark)
{
	RD_ASSERT(is_any_mark(mark));
	return (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(mark, MARK_NUMBER));
}

bool instr_is_mark(LLVMValueRef inst)
{
	return is_any_mark(inst) && instr_mark_guard(inst) < RADDLE_GUARDS;
}

/* Replaces a mark by the test that it represents. */
static void make_test(struct instr_unit *u, LLVMValueRef mark)
{
	uint32_t number = instr_mark_guard(mark);
	LLVMValueRef address = LLVMGetOperand(mark, MARK_ADDRESS);
	LLVMPositionBuilderBefore(u->builder, mark);
	if (number < RADDLE_GUARDS)
		instr_hook_call(u, HOOK_GUARD_TEST,
				(LLVMValueRef[]){address, LLVMGetOperand(mark, MARK_NUMBER),
						 LLVMGetOperand(mark, MARK_SIZE)});
	else if (number < MARK_OUTSIDE)
		instr_hook_call(u, HOOK_GUARD_ATOMIC,
				(LLVMValueRef[]){address, LLVMConstInt(u->i32, number - MARK_ATOMIC, false)});
	else
		instr_hook_call(u, HOOK_GUARD_OUTSIDE,
				(LLVMValueRef[]){LLVMConstInt(u->i32, number - MARK_OUTSIDE, false)});
	LLVMInstructionEraseFromParent(mark);
}

static void test_all(struct instr_unit *u, LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i != NULL; i = next) {
			next = LLVMGetNextInstruction(i);
			if (is_any_mark(i))
				make_test(u, i);
		}
}

/* ---- functions ---- */

struct census {
	size_t marks, instructions;
	bool strange; /* true if the function contains something that cannot be duplicated */
};

static bool is_strange(LLVMValueRef inst)
{
	switch (LLVMGetInstructionOpcode(inst)) {
	case LLVMIndirectBr:
	case LLVMCallBr:
	case LLVMCatchRet:
	case LLVMCleanupRet:
	case LLVMCatchSwitch:
	case LLVMCatchPad:
	case LLVMCleanupPad: return true;
	case LLVMAlloca: return !LLVMIsAConstantInt(LLVMGetOperand(inst, 0));
	case LLVMCall:
	case LLVMInvoke: break;
	default: return LLVMGetTypeKind(LLVMTypeOf(inst)) == LLVMTokenTypeKind;
	}
	LLVMValueRef callee = ir_callee(inst);
	return callee != NULL &&
	       (ir_has_attribute(callee, "returns_twice") || ir_has_attribute(callee, "noduplicate"));
}

static struct census count(LLVMValueRef function)
{
	struct census c = {.strange = ir_has_attribute(function, "optnone") ||
				      ir_has_attribute(function, "presplitcoroutine")};
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i)) {
			c.instructions++;
			c.marks += instr_is_mark(i);
			c.strange |= is_strange(i);
		}
	return c;
}

bool instr_has_guards(const struct instr_unit *u)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f))
		if (count(f).marks != 0)
			return true;
	return false;
}

bool instr_can_copy(LLVMValueRef function)
{
	struct census c = count(function);
	return !c.strange && c.instructions <= MAX_COPIED;
}

static bool is_worth_it(LLVMValueRef function)
{
	return count(function).marks != 0 && instr_can_copy(function);
}

/* ---- loops ---- */

/* Returns true if the instruction takes so long that an additional test costs little.  This is the
 * case for a volatile or atomic access, and for most calls. */
static bool is_heavy(LLVMValueRef inst)
{
	if (LLVMIsALoadInst(inst) || LLVMIsAStoreInst(inst))
		return LLVMGetVolatile(inst) || LLVMGetOrdering(inst) != LLVMAtomicOrderingNotAtomic;
	if (LLVMIsAAtomicRMWInst(inst) || LLVMIsAAtomicCmpXchgInst(inst) || LLVMIsAFenceInst(inst))
		return true;
	if (!ir_is_call(inst) || is_any_mark(inst))
		return false;
	LLVMValueRef callee = ir_callee(inst);
	return callee == NULL || (LLVMGetIntrinsicID(callee) == 0 && !ir_has_attribute(callee, "willreturn"));
}

/* Returns true if the instruction belongs to the program.  Instructions that the pass reg2mem
 * inserted do not belong to it, because they disappear again. */
bool instr_clone_is_real(LLVMValueRef inst)
{
	unsigned pointer = LLVMIsAStoreInst(inst) ? 1 : 0;
	if (is_any_mark(inst))
		return false;
	return !(LLVMIsALoadInst(inst) || LLVMIsAStoreInst(inst)) ||
	       !LLVMIsAAllocaInst(LLVMGetOperand(inst, pointer));
}

static bool is_in_each_round(const struct instr_clone *t, const struct facts_loop *loop, uint32_t block)
{
	RD_ASSERT(block < t->cfg.graph.nodes);
	const struct facts_graph *g = &t->cfg.graph;
	for (uint32_t e = g->pred_start[loop->header]; e < g->pred_start[loop->header + 1]; e++)
		if (facts_loop_has(loop, g->pred[e]) && !facts_graph_dominates(g, block, g->pred[e]))
			return false;
	return true;
}

/* Properties of a loop's iterations, not counting the loops inside it. */
struct rounds {
	bool heavy; /* true if each iteration contains something slow */
	bool nest;  /* true if another loop is inside */
	size_t size;
};

static struct rounds look_at_rounds(const struct instr_clone *t, size_t number)
{
	RD_ASSERT(number < t->loops.count);
	const struct facts_loop *loop = &t->loops.items[number];
	bool inner = t->parent[number] != FACTS_NONE;
	struct rounds r = {0};
	for (uint32_t i = 0; i < loop->size; i++) {
		if (t->loops.innermost[loop->body[i]] != number) {
			r.nest = true;
			continue;
		}
		bool always = is_in_each_round(t, loop, loop->body[i]);
		for (LLVMValueRef v = LLVMGetFirstInstruction(t->cfg.blocks[loop->body[i]]); v != NULL;
		     v = LLVMGetNextInstruction(v)) {
			r.heavy |= is_heavy(v) && (always || !inner);
			r.size += instr_clone_is_real(v);
		}
	}
	return r;
}

/* Decides whether the loop tests the byte of its region in each iteration:
 *
 * - A loop with slow iterations does.
 * - A counting loop does not if it is an inner loop or small.  It ends by itself, and a test would
 *   prevent vectorisation.
 * - In a loop that unroll.c unrolls, that file places the tests.
 * - All other loops do. */
static void decide(struct instr_clone *t, size_t number, const struct instr_unrolled *unrolled)
{
	RD_ASSERT(number < t->loops.count);
	const struct facts_loop *loop = &t->loops.items[number];
	struct rounds r = look_at_rounds(t, number);
	bool inner = t->parent[number] != FACTS_NONE;
	t->polled[number] = r.heavy;
	if (r.heavy)
		return;
	if (instr_clone_counts(t, loop) && (inner || (!r.nest && r.size < TIGHT)))
		return;
	t->light[number] = true;
	t->polled[number] = rd_umap_get(&unrolled->headers, (uintptr_t)t->cfg.blocks[loop->header]) == NULL;
}

static void find_loops(struct instr_clone *t, const struct rd_umap *pieces,
		       const struct instr_unrolled *unrolled)
{
	t->parent = rd_xcalloc(t->loops.count + 1, sizeof *t->parent);
	t->polled = rd_xcalloc(t->loops.count + 1, sizeof *t->polled);
	t->light = rd_xcalloc(t->loops.count + 1, sizeof *t->light);
	for (size_t i = 0; i < t->loops.count; i++) {
		t->parent[i] = FACTS_NONE;
		for (size_t j = i; j-- > 0 && t->parent[i] == FACTS_NONE;)
			if (facts_loop_has(&t->loops.items[j], t->loops.items[i].header))
				t->parent[i] = (uint32_t)j;
		LLVMBasicBlockRef header = t->cfg.blocks[t->loops.items[i].header];
		if (rd_umap_get(pieces, (uintptr_t)header) != NULL)
			t->polled[i] = true;
		else
			decide(t, i, unrolled);
	}
}

/* ---- scopes ---- */

/* The guards of one scope.  A scope is a loop or, for the last scope, the whole function. */
struct scope {
	/* The last block that all paths to the guards pass, or FACTS_NONE if there are no
	 * guards. */
	uint32_t block;
	size_t marks;
	bool tight; /* true if one of the guards is in a tight loop */
};

static uint32_t common_dominator(const struct facts_graph *g, uint32_t a, uint32_t b)
{
	while (a != b)
		if (g->number[a] > g->number[b])
			a = g->idom[a];
		else
			b = g->idom[b];
	return a;
}

static uint32_t scope_of(const struct instr_clone *t, uint32_t block)
{
	RD_ASSERT(block < t->cfg.graph.nodes);
	uint32_t loop = t->loops.innermost[block];
	while (loop != FACTS_NONE && !t->polled[loop])
		loop = t->parent[loop];
	return loop;
}

/* Returns true if a block must directly follow another one, because it is a landing pad or uses
 * the result of an invoke. */
static bool is_bound(const struct instr_clone *t, uint32_t block)
{
	RD_ASSERT(block < t->cfg.graph.nodes);
	for (LLVMValueRef i = LLVMGetFirstInstruction(t->cfg.blocks[block]); i != NULL;
	     i = LLVMGetNextInstruction(i)) {
		int n = LLVMGetNumOperands(i);
		if (LLVMIsALandingPadInst(i))
			return true;
		for (int k = 0; k < n; k++) {
			LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
			if (operand != NULL && LLVMIsAInvokeInst(operand) &&
			    LLVMGetInstructionParent(operand) != t->cfg.blocks[block])
				return true;
		}
	}
	return false;
}

/* Returns `block` or the nearest block before it that is in the scope but in none of the scope's
 * inner loops. */
static uint32_t out_of_loops(const struct instr_clone *t, uint32_t block, uint32_t scope)
{
	RD_ASSERT(block < t->cfg.graph.nodes);
	while (block != 0 && (t->loops.innermost[block] != scope || is_bound(t, block)))
		block = t->cfg.graph.idom[block];
	return block;
}

size_t instr_marks_in(LLVMBasicBlockRef block)
{
	size_t n = 0;
	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != NULL; i = LLVMGetNextInstruction(i))
		n += instr_is_mark(i);
	return n;
}

bool instr_clone_has_marks(const struct instr_clone *t, const struct facts_loop *loop)
{
	for (uint32_t i = 0; i < loop->size; i++)
		if (instr_marks_in(t->cfg.blocks[loop->body[i]]) != 0)
			return true;
	return false;
}

static void add_to_scope(const struct instr_clone *t, struct scope *scopes, uint32_t block)
{
	RD_ASSERT(block < t->cfg.graph.nodes);
	uint32_t number = scope_of(t, block);
	struct scope *s = &scopes[number == FACTS_NONE ? t->loops.count : number];
	size_t marks = instr_marks_in(t->cfg.blocks[block]);
	if (marks == 0)
		return;
	s->block = s->block == FACTS_NONE ? block : common_dominator(&t->cfg.graph, s->block, block);
	s->tight |= t->loops.innermost[block] != number;
	s->marks += marks;
}

/* Decides where the byte of the region is tested.  Returns false if it is tested nowhere. */
static bool find_meetings(struct instr_clone *t)
{
	const uint32_t nodes = t->cfg.graph.nodes;
	struct scope *scopes = rd_xcalloc(t->loops.count + 1, sizeof *scopes);
	bool any = false;
	for (size_t i = 0; i <= t->loops.count; i++)
		scopes[i].block = FACTS_NONE;
	for (uint32_t b = 0; b < nodes; b++)
		if (t->cfg.graph.number[b] != FACTS_NONE)
			add_to_scope(t, scopes, b);
	for (size_t i = 0; i <= t->loops.count; i++) {
		struct scope *s = &scopes[i];
		uint32_t loop = i < t->loops.count ? (uint32_t)i : FACTS_NONE;
		if (s->block == FACTS_NONE || (s->marks == 1 && !s->tight))
			continue;
		t->meets[out_of_loops(t, s->block, loop)] = true;
		any = true;
	}
	for (uint32_t b = 0; b < nodes; b++) {
		uint32_t number = t->cfg.graph.number[b] != FACTS_NONE ? scope_of(t, b) : FACTS_NONE;
		const struct scope *s = &scopes[number == FACTS_NONE ? t->loops.count : number];
		t->keeps[b] = s->marks == 1 && !s->tight;
		t->meets[b] |= rd_umap_get(&t->unrolled->tests, (uintptr_t)t->cfg.blocks[b]) != NULL;
	}
	free(scopes);
	return any;
}

static void note_regions(const struct instr_clone *t, struct rd_buf *regions)
{
	for (uint32_t b = 0; b < t->cfg.graph.nodes; b++)
		for (LLVMValueRef i = LLVMGetFirstInstruction(t->cfg.blocks[b]); i != NULL;
		     i = LLVMGetNextInstruction(i))
			if (instr_is_mark(i))
				rd_buf_addf(regions, "%u %u\n", instr_mark_guard(i), t->region);
}

static void open_clone(struct instr_clone *t, const struct rd_umap *pieces,
		       const struct instr_unrolled *unrolled)
{
	ir_cfg_init(&t->cfg, t->function);
	facts_graph_dominators(&t->cfg.graph);
	facts_loops_init(&t->loops, &t->cfg.graph);
	t->meets = rd_xcalloc(t->cfg.graph.nodes, sizeof *t->meets);
	t->keeps = rd_xcalloc(t->cfg.graph.nodes, sizeof *t->keeps);
	find_loops(t, pieces, unrolled);
}

static void close_clone(struct instr_clone *t)
{
	RD_FREE(t->meets, t->keeps, t->parent, t->polled, t->light, t->guarded);
	t->guarded = NULL;
	facts_loops_release(&t->loops);
	ir_cfg_release(&t->cfg);
}

/* Returns the number of regions that the function uses, or 0 if it was not duplicated. */
static uint32_t make_clone(struct instr_unit *u, LLVMValueRef function, uint32_t region,
			   struct rd_buf *regions)
{
	struct instr_unrolled unrolled = {0};
	struct instr_clone t = {.unit = u, .function = function, .region = region, .unrolled = &unrolled};
	struct rd_umap pieces = {0};
	open_clone(&t, &pieces, &unrolled);
	instr_clone_strip(&t, &pieces);
	do {
		close_clone(&t);
		open_clone(&t, &pieces, &unrolled);
	} while (instr_clone_unroll(&t, &unrolled));
	if (find_meetings(&t)) {
		t.regions = 1;
		note_regions(&t, regions);
		instr_clone_copy(&t);
		instr_clone_quiet(&t, regions);
	}
	close_clone(&t);
	rd_umap_release(&pieces);
	instr_unrolled_release(&unrolled);
	return t.regions;
}

/* ---- the unit ---- */

void instr_set_attribute(struct instr_unit *u, LLVMValueRef f, const char *name, bool set)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
	if (set)
		LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
					LLVMCreateEnumAttribute(u->context, kind, 0));
	else
		LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind);
}

/* Gives all functions that were not chosen the attribute optnone while the passes run.  LLVM's
 * passes skip functions with this attribute. */
int instr_to_memory(struct instr_unit *u, const struct rd_umap *chosen)
{
	struct rd_umap shielded = {0};
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f)) {
		if (LLVMIsDeclaration(f) || ir_has_attribute(f, "optnone") ||
		    rd_umap_get(chosen, (uintptr_t)f) != NULL)
			continue;
		*rd_umap_put(&shielded, (uintptr_t)f, NULL) = ir_has_attribute(f, "noinline");
		instr_set_attribute(u, f, "optnone", true);
		instr_set_attribute(u, f, "noinline", true);
	}
	int code = instr_unit_passes(u, "function(reg2mem)");
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f)) {
		const uint64_t *noinline = rd_umap_get(&shielded, (uintptr_t)f);
		if (noinline == NULL)
			continue;
		instr_set_attribute(u, f, "optnone", false);
		if (!*noinline)
			instr_set_attribute(u, f, "noinline", false);
	}
	rd_umap_release(&shielded);
	return code;
}

int instr_clones(struct instr_unit *u, struct rd_buf *regions)
{
	struct rd_umap chosen = {0};
	uint32_t region = (uint32_t)(u->job->slot * REGION_STEP);
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f))
		if (u->options->fast && !LLVMIsDeclaration(f) && is_worth_it(f))
			rd_umap_put(&chosen, (uintptr_t)f, NULL);
	int code = chosen.count != 0 ? instr_to_memory(u, &chosen) : 0;
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); code == 0 && f != NULL;
	     f = LLVMGetNextFunction(f)) {
		if (LLVMIsDeclaration(f))
			continue;
		if (rd_umap_get(&chosen, (uintptr_t)f) != NULL && is_worth_it(f))
			region += make_clone(u, f, region % RADDLE_GUARDS, regions);
		test_all(u, f);
	}
	rd_umap_release(&chosen);
	return code;
}
